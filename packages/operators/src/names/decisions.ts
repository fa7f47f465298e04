/** Why a project needs a decision, and what a person can do. */
export function decisionText(why: string): string {
  return DECISIONS[why] ?? why;
}

const DECISIONS: Readonly<Record<string, string>> = {
  team: 'the team could not be read, so messages wait; the same message, or another one, tries again',
  tasks: 'tasks failed or are blocked; say what becomes of them',
  results: 'the coordinator could not take up results; send a message to let it try again',
  coordinator: 'the coordinator’s run failed; send a message to go on',
  wakes: 'the coordinator went on for long without an end; send a message to let it go on, or to stop it',
  budget: 'the budget is used up; set another one',
};
