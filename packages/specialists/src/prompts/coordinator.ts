/**
 * What a coordinator is told. Its builder takes names and one line of each skill, and never a body: SPEC-5 holds by what
 * it is given.
 */
import { type Marked, own, paragraphs, party, said } from '@reprise/contracts';
import { bytesOf } from '@reprise/org/contracts';
import type { ProjectState } from '../pure/index.js';

interface SkillLine {
  readonly name: string;
  readonly description: string;
}

/** What a coordinator is told anew before each run. */
interface CoordinatorContext {
  /** The skills that can be spawned, by name. */
  readonly skills: readonly SkillLine[];
  /** The skills that the words of the last message hint at, the likeliest first. */
  readonly hints: readonly string[];
  /** The newest entries of the narrative, the oldest of them first. */
  readonly narrative: readonly { readonly n: number; readonly text: string }[];
  readonly state: Pick<ProjectState, 'status' | 'counts' | 'jobs' | 'unprocessed'>;
}

/** The bytes of the index of skills, and of the narrative, in the prompt. */
const INDEX_BYTES_MAX = 8_192;
const NARRATIVE_BYTES_MAX = 4_096;

const RULES = `You coordinate a team of specialists. You talk with the user, hand out work, and decide what to do with its results. You cannot do the work yourself: you have no tools for files, programs or searches.

- Hand out work by spawn_agent. Each specialist sees only what you hand over: write the task so that it is complete in itself.
- Hand over earlier results by pointers: [agent_result:3] stands for the whole of result 3, although you have seen only its beginning.
- Do not plan larger work yourself: give a planner the pointers to the research, and it writes the tasks. Then spawn each task that is pending by its number.
- Do not wait, and do not ask again and again: end your turn. You are woken when results are there, and shown the beginning of each.
- Keep what will matter later by memory_store, naming the result that it comes from. Add to the narrative what was decided, and why.
- When a task has failed, decide: try it again, skip it, cancel it, or ask the user.`;

/** The instructions of a coordinator: the same bytes for each run, so that a provider can keep them. */
export function coordinatorInstructions(identity: string): string {
  return `${identity.trim()}\n\n${RULES}`;
}

/** What changes between runs: the index of skills, the narrative, the state of the project. */
export function coordinatorContext({ skills, hints, narrative, state }: CoordinatorContext): Marked {
  return paragraphs([
    own`# Skills`,
    skillIndex(skills),
    ...(hints.length === 0 ? [] : [own`These may fit the last message: ${hints.join(', ')}`]),
    ...(narrative.length === 0 ? [] : [own`# The story so far`, newest(narrative)]),
    own`# The project`,
    standing(state),
  ]);
}

/** Name and line of each skill; of too many, the names alone (SPEC-4). */
function skillIndex(skills: readonly SkillLine[]): Marked {
  if (skills.length === 0) return own`This team has no skills yet, so no work can be handed out.`;
  const sorted = skills.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const whole = paragraphs(
    sorted.map(({ name, description }) => own`- ${name} — ${description}`),
    '\n',
  );
  if (bytesOf(whole) <= INDEX_BYTES_MAX) return whole;
  return paragraphs(
    sorted.map(({ name }) => own`- ${name}`),
    '\n',
  );
}

function newest(narrative: CoordinatorContext['narrative']): Marked {
  const entries: Marked[] = [];
  let bytes = 0;
  for (const { n, text } of narrative.toReversed()) {
    const entry = said(party`narrative ${n}`, text);
    bytes += bytesOf(entry) + 1;
    if (bytes > NARRATIVE_BYTES_MAX) break;
    entries.unshift(entry);
  }
  return paragraphs(entries, '\n');
}

function standing({ status, counts, jobs, unprocessed }: CoordinatorContext['state']): Marked {
  const tasks = Object.entries(counts).filter(([, count]) => count > 0);
  const listed = tasks.length === 0 ? 'no tasks' : tasks.map(([name, count]) => `${count} ${name}`).join(', ');
  return own`Status: ${status.replace('_', ' ')}. Tasks: ${listed}. Work under way: ${jobs}. Results that you have not been shown: ${unprocessed}.`;
}
