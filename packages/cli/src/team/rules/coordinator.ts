/** The coordinator among the rules: survey, plan, tasks, report. It acts on what it is shown, and on nothing else. */
import { parseJson } from '@reprise/contracts/json';
import type { ScriptRequest, ScriptStep } from '@reprise/providers';
import { type Called, callsOf } from '../../tree/rules/reading.js';

type Call = NonNullable<ScriptStep['calls']>[number];

/** A line of a wake: what became of a result. */
interface Ended {
  readonly result: number;
  readonly task: number | undefined;
  readonly title: string;
  readonly skill: string;
  readonly status: string;
  /** The beginning of its output. */
  readonly summary: string;
}

/** A task, as `task_graph` lists it. */
interface ListedTask {
  readonly id: number;
  readonly title: string;
  readonly status: string;
  readonly result_id?: number;
}

/** What the coordinator knows at a step. */
interface Known {
  /** The last message of a person. */
  readonly question: string;
  /** The last message of all: of a person, or of the project. */
  readonly last: string;
  /** The calls of this run, and all calls. */
  readonly run: readonly Called[];
  readonly all: readonly Called[];
  /** The names of the skills. */
  readonly skills: readonly string[];
}

const SURVEYS = /survey|research|explor|investigat/;
const PLANS = /plan/;
const WAKE = /^(?:Result \d+: |## (?:Results|A decision is needed))/m;

/** The next step of a coordinator. */
export function coordinate(request: ScriptRequest): ScriptStep {
  const known = knownIn(request);
  return WAKE.test(known.last) ? wake(known) : answer(known);
}

/** A person spoke: an act on a task, or new work. */
function answer({ question, run, skills }: Known): ScriptStep {
  const done = run.at(-1);
  if (done !== undefined) return { text: done.isError ? `That was refused: ${done.text}` : wordsAfter(done) };
  const act = /^\W*(retry|skip|cancel) task (\d+)\b(.*)/is.exec(question);
  if (act !== null) return { text: 'I change the task.', calls: [taskAct(act[1] ?? '', Number(act[2]), act[3] ?? '')] };
  const first = skills.find((name) => SURVEYS.test(name)) ?? skills.find((name) => !PLANS.test(name));
  if (first === undefined) return { text: 'This team has no skill that could do the work.' };
  const task = `Look at the folder, and say what is there for this question.\n\nQuestion: ${oneLine(question)}`;
  return { text: `I ask ${first}.`, calls: [{ tool: 'spawn_agent', args: { task, skill: first } }] };
}

function taskAct(verb: string, task_id: number, words: string): Call {
  const reason = oneLine(words) === '' ? 'The user wants it.' : oneLine(words);
  if (/retry/i.test(verb)) return { tool: 'task_retry', args: { task_id, note: reason } };
  return { tool: /skip/i.test(verb) ? 'task_skip' : 'task_cancel', args: { task_id, reason } };
}

function wordsAfter({ tool, args }: Called): string {
  if (tool === 'spawn_agent') return `${String(args.skill)} looks at it. I go on when there is a result.`;
  return `Task ${String(args.task_id)} is changed.`;
}

/** Results came, or a decision is needed. */
function wake(known: Known): ScriptStep {
  const { last, run } = known;
  const ended = endedIn(last);
  if (run.length === 0) return { text: 'I take up the results.', calls: takenUp(known, ended) };
  const graph = run.findLast(({ tool }) => tool === 'task_graph');
  const tasks = graph === undefined ? [] : tasksIn(graph.text);
  const next = graph === undefined ? [] : onTasks(known, tasks).filter((call) => !wasMade(run, call));
  if (next.length > 0) return { text: 'I go on with the plan.', calls: next };
  const text = run.find(({ tool }) => tool === 'result_read');
  if (text !== undefined) return { text: textOfRead(text.text) };
  const report = reportOf(known, ended, tasks);
  if (report !== undefined)
    return { text: 'I read the report.', calls: [{ tool: 'result_read', args: { result_id: report } }] };
  const spawned = run.filter(({ tool, isError }) => tool === 'spawn_agent' && !isError).length;
  if (spawned > 0) return { text: `${spawned === 1 ? 'One specialist is' : `${spawned} specialists are`} at work.` };
  const failed = ended.filter(({ status }) => status !== 'ok');
  if (failed.length > 0)
    return { text: failed.map(({ title, status }) => `"${title}" did not succeed: ${status}.`).join(' ') };
  return { text: 'I have taken it up, and wait for the rest.' };
}

/** What is done with results at once: findings are remembered, the story goes on, the next step is handed out. */
function takenUp({ question, skills, all }: Known, ended: readonly Ended[]): readonly Call[] {
  const good = ended.filter(({ status, skill }) => status === 'ok' && !PLANS.test(skill));
  const remembered = good.map(({ result, summary, title }): Call => {
    const text = summary === '' ? title : summary;
    return { tool: 'memory_store', args: { text: text.slice(0, 600), result_id: result, key: `result-${result}` } };
  });
  const story: Call = {
    tool: 'narrative_append',
    args: {
      text: `For "${oneLine(question).slice(0, 200)}": ${ended.map(storyOf).join('; ') || 'a decision was needed'}.`,
    },
  };
  const planner = skills.find((name) => PLANS.test(name));
  const survey = ended.find(({ status, task, skill }) => status === 'ok' && task === undefined && !PLANS.test(skill));
  const isPlanned = all.some(({ tool, args }) => tool === 'spawn_agent' && PLANS.test(String(args.skill)));
  if (survey !== undefined && planner !== undefined && !isPlanned)
    return [...remembered, story, spawnPlanner(planner, survey.result, question, skills)];
  return [...remembered, story, { tool: 'task_graph', args: {} }];
}

function storyOf({ result, title, status }: Ended): string {
  return `result ${result}, "${title.slice(0, 80)}", ended ${status}`;
}

function spawnPlanner(planner: string, survey: number, question: string, skills: readonly string[]): Call {
  const context = `Question: ${oneLine(question)}\nSkills: ${skills.join(', ')}\n\nThe survey: [agent_result:${survey}]`;
  return { tool: 'spawn_agent', args: { task: `Plan the work for: ${oneLine(question)}`, skill: planner, context } };
}

/** What the plan needs now: ready tasks are spawned, failed ones are tried once more and then skipped. */
function onTasks({ all }: Known, tasks: readonly ListedTask[]): readonly Call[] {
  return tasks.flatMap(({ id, status }): Call[] => {
    if (status === 'pending') return [{ tool: 'spawn_agent', args: { task_id: id } }];
    if (status !== 'failed') return [];
    const wasTried = all.some(({ tool, args }) => tool === 'task_retry' && args.task_id === id);
    if (wasTried) return [{ tool: 'task_skip', args: { task_id: id, reason: 'It failed twice.' } }];
    return [
      { tool: 'task_retry', args: { task_id: id, note: 'The first try failed. Keep it small.' } },
      { tool: 'spawn_agent', args: { task_id: id } },
    ];
  });
}

function wasMade(run: readonly Called[], { tool, args }: Call): boolean {
  return run.some((one) => one.tool === tool && JSON.stringify(one.args) === JSON.stringify(args));
}

const FINAL = ['completed', 'skipped', 'cancelled'];

/** The result that answers the user: that of the last task, when all have ended; of work without a plan, the last one. */
function reportOf({ run }: Known, ended: readonly Ended[], tasks: readonly ListedTask[]): number | undefined {
  if (run.some(({ tool, isError }) => tool === 'spawn_agent' && !isError)) return undefined;
  if (tasks.length === 0) return ended.findLast(({ status, skill }) => status === 'ok' && !PLANS.test(skill))?.result;
  if (!tasks.every(({ status }) => FINAL.includes(status))) return undefined;
  return tasks.findLast(({ status }) => status === 'completed')?.result_id;
}

function knownIn({ system, messages }: ScriptRequest): Known {
  const users = messages.flatMap(({ role }, i) => (role === 'user' ? [i] : []));
  const at = users.at(-1) ?? 0;
  const texts = users.map((i) => messages[i]?.text ?? '');
  const everything = [system, ...messages.filter(({ role }) => role !== 'assistant').map(({ text }) => text)].join(
    '\n',
  );
  const index = everything.slice(Math.max(0, everything.lastIndexOf('# Skills\n')));
  return {
    question: said(texts.findLast((text) => !WAKE.test(text)) ?? ''),
    last: said(texts.at(-1) ?? ''),
    run: callsOf(messages.slice(at + 1)),
    all: callsOf(messages),
    skills: [...index.matchAll(/^- ([a-z0-9-]+) — /gm)].map(([, name = '']) => name),
  };
}

/** The words of a message, without what the project says before each run. */
function said(text: string): string {
  return text.replace(/# Skills\n[\s\S]*?# The project\n\n[^\n]*\n*/g, '').trim();
}

const RESULT = /^Result (\d+): (?:task (\d+), )?"(.*)", by ([a-z0-9-]+): (\w+)/gm;

function endedIn(text: string): readonly Ended[] {
  return [...text.matchAll(RESULT)].map(([line, result, task, title = '', skill = '', status = '']) => {
    const data = new RegExp(`<(?:quoted-)?said by="agent_result:${result}"[^>]*>\\n([\\s\\S]*?)\\n</(?:quoted-)?said>`);
    const summary = data.exec(text)?.[1]?.trim() ?? '';
    return {
      line,
      result: Number(result),
      task: task === undefined ? undefined : Number(task),
      title,
      skill,
      status,
      summary,
    };
  });
}

function tasksIn(text: string): readonly ListedTask[] {
  try {
    const listed = parseJson(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as { tasks?: ListedTask[] };
    return listed.tasks ?? [];
  } catch {
    return [];
  }
}

/** The text that `result_read` showed, without its frame. */
function textOfRead(text: string): string {
  const body = text.slice(text.indexOf('}') + 1);
  return body
    .replace(/^\s*<[^>\n]*>\s*\n/gm, '')
    .replace(/<\/?(?:quoted-)?said[^>]*>/g, '')
    .trim();
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 400);
}
