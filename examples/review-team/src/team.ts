/** The team: a coordinator that cannot read a file, and specialists that can do nothing else. */
import { fileURLToPath } from 'node:url';
import { folder, type Team, team } from 'reprise/specialists';
import { workspace } from 'reprise/tools';

/** The skills of this example. */
const SKILLS = fileURLToPath(new URL('../skills', import.meta.url));

/** The project of a review, and the message that begins it. */
export const PROJECT = 'review';
export const MESSAGE = { id: 'review' } as const;

const IDENTITY = `You lead the review of a repository.

First have the skill planner plan it. Then start each task of the plan as soon as it is pending; tasks that failed are tried once more, and skipped when they fail again. When the task of the skill report is completed, keep in memory what the review found, add it to the story, and tell the user in one sentence how many findings there are and which result holds the report.`;

/** Makes the team for a repository. */
export function reviewTeam(root: string, { max, skills = SKILLS }: { max: number; skills?: string | undefined }): Team {
  return team({
    name: 'review',
    skills: [folder(skills)],
    tools: workspace({ root, readOnly: true }),
    coordinator: { model: 'main', identity: IDENTITY },
    planners: ['planner'],
    agents: { maxConcurrent: max, defaultTimeout: '20m' },
  });
}

/** What the user asks for. */
export function messageFor(name: string): string {
  return `Review the repository ${name}: security, style, tests and documentation. Make one report of it.`;
}
