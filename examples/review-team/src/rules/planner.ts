/** The rules of the planner: it looks where the code is, and writes one task for each reviewer and area. */
import type { ScriptStep } from 'reprise/providers';
import { type Conversation, done, filesIn, plural } from './conversation.js';

/** Files that are code. */
export const CODE = '**/*.{ts,tsx,mts,js,jsx,mjs,cjs,py,go,rs,java,kt,rb,php,cs,c,h,cpp,sh}';

/** The areas that are looked at by reviewers of their own. */
const AREAS_MAX = 3;
/** The folders whose code is counted. */
const FOLDERS_MAX = 14;

/** An area of the repository, and how many files of code it has. */
interface Area {
  readonly path: string;
  readonly files: number;
}

/** The planner's answer. */
export function plan({ calls, asked }: Conversation): ScriptStep {
  const [listed] = done(calls, 'list_files');
  if (!calls.some(({ tool }) => tool === 'list_files'))
    return { text: 'I look at the folder.', calls: [list(), count('.')] };
  if (listed === undefined) return { text: 'I could not list the folder, so there is no plan.' };
  const counted = done(calls, 'glob');
  const folders = foldersIn(listed.text);
  if (counted.length <= 1 && folders.length > 0)
    return { text: 'I count the code in each folder.', calls: folders.map(count) };
  const written = calls.filter(({ tool }) => tool === 'plan_write');
  const areas = areasOf(counted);
  if (written.length === 0) return { calls: [{ tool: 'plan_write', args: { tasks: tasksFor(areas, asked) } }] };
  if (written.every(({ isError }) => isError))
    return { text: `The plan was refused: ${faultsIn(written.at(-1)?.text ?? '')}` };
  const where = areas.map(({ path }) => path).join(', ');
  return {
    text: `I planned ${plural(tasksFor(areas, asked).length, 'task')}: security and style of ${where}; tests; documentation; one report.`,
  };
}

/** The faults of a refused plan, in a line. */
function faultsIn(refusal: string): string {
  const faults = [...refusal.matchAll(/"key":"([^"]+)","fault":"([^"]+)"/g)].map(
    ([, key, fault]) => `${key}: ${fault}`,
  );
  return faults.length === 0 ? refusal : faults.join(', ');
}

const list = () => ({ tool: 'list_files', args: { path: '.', depth: 1, limit: 200 } });
const count = (path: string) => ({ tool: 'glob', args: { pattern: CODE, path, limit: 1 } });

/** Folders of other people's files, and of what programs made. */
const PASSED_OVER = /^(?:node_modules|bower_components|vendor|dist|build|out|target|coverage|venv|__pycache__)$/;

/** The folders at the top, without hidden ones. */
function foldersIn(listing: string): readonly string[] {
  const names = [...listing.matchAll(/^dir - \S+Z ([^."][^/\n]*)$/gm)].map(([, name = '']) => name);
  return names.filter((name) => !PASSED_OVER.test(name)).slice(0, FOLDERS_MAX);
}

/** The folders with the most code; the whole repository where there are no folders with code. */
function areasOf(
  counted: readonly { readonly args: Readonly<Record<string, unknown>>; readonly text: string }[],
): readonly Area[] {
  const all = counted.map((call) => ({ path: String(call.args.path), files: filesIn(call as never).count }));
  const areas = all.filter(({ path, files }) => path !== '.' && files > 0).sort((a, b) => b.files - a.files);
  if (areas.length === 0) return [{ path: '.', files: all[0]?.files ?? 0 }];
  return areas.slice(0, AREAS_MAX);
}

function tasksFor(areas: readonly Area[], asked: string) {
  const first = areas.flatMap(({ path, files }) =>
    ['security', 'style'].map((skill) => ({
      key: `${skill}-${path.replace(/[^A-Za-z0-9_.-]/g, '_').replace(/^[^A-Za-z0-9]/, 'x')}`.slice(0, 64),
      title: `${skill === 'security' ? 'Security' : 'Style'} of ${path === '.' ? 'the repository' : path}`.slice(
        0,
        200,
      ),
      skill,
      context: brief(path, `It holds ${plural(files, 'file')} of code.`, asked),
    })),
  );
  const whole = ['tests', 'docs'].map((skill) => ({
    key: skill,
    title: skill === 'tests' ? 'Tests of the repository' : 'Documentation of the repository',
    skill,
    context: brief('.', 'Look at the whole repository, not only at one folder.', asked),
  }));
  const reviews = [...first, ...whole];
  const report = {
    key: 'report',
    title: 'One report of all findings',
    skill: 'report',
    context: brief('.', 'You are given the results of all reviewers. Make one report of them.', asked),
    depends_on: reviews.map(({ key }) => ({ task: key, pass: 'full' })),
    priority: 100,
  };
  return [...reviews, report];
}

function brief(area: string, what: string, asked: string): string {
  return `Area: ${area}\n\n${what} Work on this area only: others review the rest. Name the file and the line of each finding, from the root of the repository, and quote the line as it stands there. Nothing may be changed: you only read.\n\nWhat the user wants:\n\n${asked}`;
}
