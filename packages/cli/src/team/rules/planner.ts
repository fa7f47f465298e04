/** The planner among the rules: one task for each part that a survey names, and one that makes a report of all. */
import type { ScriptRequest, ScriptStep } from '@reprise/providers';
import { callsOf } from '../../tree/rules/reading.js';

/** The parts that get a task of their own. */
const PARTS_MAX = 4;
/** What a brief is filled up with: it must stand alone. */
const ALONE =
  'Look only at this part. Say what is there, which files the answer comes from, and what could not be found. Name no file that you have not seen, and keep the first line short: it is the summary that others read.';

/** The next step of a planner. */
export function plan({ messages }: ScriptRequest): ScriptStep {
  const calls = callsOf(messages).filter(({ tool }) => tool === 'plan_write');
  const [first] = calls;
  if (first !== undefined)
    return { text: first.isError ? `The plan was refused.\n\n${first.text}` : `The plan stands.\n\n${first.text}` };
  const text = messages
    .filter(({ role }) => role === 'user')
    .map((one) => one.text)
    .join('\n');
  const question = /^Question: (.+)$/m.exec(text)?.[1] ?? 'What is here?';
  const skills = (/^Skills: (.+)$/m.exec(text)?.[1] ?? '').split(', ').filter((name) => name !== '');
  const readers = skills.filter((name) => !/plan|writ|report/.test(name));
  const writer = skills.find((name) => /writ|report/.test(name));
  if (readers.length === 0) return { text: 'There is no skill that could do the work.' };
  const parts = partsIn(text);
  const tasks = parts.map((part, i) => ({
    key: `part-${i + 1}`,
    title: `Look at ${part === '.' ? 'the folder' : part}`,
    skill: readers.find((name) => /read/.test(name)) ?? (readers[i % readers.length] as string),
    context: `Question: ${question}\nFolder: ${part}\n\n${ALONE}\n\n${linesAbout(part, text)}`,
  }));
  const report = {
    key: 'report',
    title: 'Write the report',
    skill: writer ?? '',
    context: `Question: ${question}\n\nMake one report of the results that are handed over. ${ALONE}`,
    depends_on: tasks.map(({ key }) => ({ task: key, pass: 'full' })),
  };
  const all = writer === undefined ? tasks : [...tasks, report];
  return { text: `I write ${all.length} tasks.`, calls: [{ tool: 'plan_write', args: { tasks: all } }] };
}

/** The folders that a survey names files of, those with the most files first; the folder itself without one. */
function partsIn(text: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const [, path = ''] of text.matchAll(/^- `([^`\n]+)` \(/gm)) {
    const at = path.indexOf('/');
    if (at > 0) counts.set(path.slice(0, at), (counts.get(path.slice(0, at)) ?? 0) + 1);
  }
  const parts = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([part]) => part);
  return parts.length === 0 ? ['.'] : parts.slice(0, PARTS_MAX);
}

/** What the survey says about a part. */
function linesAbout(part: string, text: string): string {
  const lines = text.split('\n').filter((line) => line.startsWith(`- \`${part}/`));
  return lines.length === 0 ? '' : `The survey says:\n${lines.slice(0, 8).join('\n')}`;
}
