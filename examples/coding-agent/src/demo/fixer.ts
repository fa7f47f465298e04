/**
 * The embedded model: rules instead of a neural network, so that the agent can be tried without a key or a network. It
 * really fixes small mistakes: it runs the tests, reads the failures, and tries likely corrections of a line until
 * the tests pass. It keeps no state between two requests: its next action follows from the conversation alone. So
 * after a crash it knows exactly as much as a real model.
 */
import { type ModelClient, type ScriptRequest, type ScriptStep, scriptBy, typewriter } from 'reprise/providers';
import {
  type Called,
  type Failure,
  fileText,
  type Reading,
  readConversation,
  readTests,
  type Said,
} from './reading.js';
import { type Repair, repairsOf } from './repairs.js';

/** The name of the embedded model. */
export const EMBEDDED = 'embedded';

const TEST_COMMAND = ['node', '--test', '--test-reporter=tap'];
const WORD_MS = 25;

const INTRODUCTION = `I am the embedded model: a few rules, no network. I can
- make a failing test pass when one small mistake in one line is the reason ("fix the failing test"),
- put a comment above what I changed ("also add a comment"),
- list the folder ("what is here?"), and stop when you say so.
For everything else start me with --model NAME and a key; see --help.`;

/** Creates the embedded model. */
export function embeddedModel(): ModelClient {
  const model = scriptBy(nextStep);
  return typewriter({ ...model, profile: { ...model.profile, model_default: EMBEDDED, provider: EMBEDDED } }, WORD_MS);
}

/** The model's answer to a request. Pure. */
export function nextStep({ messages, last }: ScriptRequest): ScriptStep {
  const reading = readConversation(messages);
  const { task, steers, calls } = reading;
  if (/^Automatic request, not written by the user\b/.test(last)) return { text: summaryOf(reading) };
  if (/^\s*(stop|halt|enough|never ?mind|leave it)\b/i.test(steers.at(-1)?.text ?? ''))
    return { text: `I stop here. ${progressOf(calls)}` };
  if (/\b(test|tests|fix|fix|repair|bug|broken|fail|fails|failing)\b/i.test(task)) return fix(reading);
  if (/\b(list|look|show|what)\b/i.test(task)) return show(reading);
  return { text: INTRODUCTION };
}

/** A summary of the conversation, for when the window no longer contains it. */
function summaryOf({ task, calls }: Reading): string {
  return `The last task was: "${task}". ${progressOf(calls)}`;
}

function show({ calls }: Reading): ScriptStep {
  const listing = calls.findLast(({ tool }) => tool === 'list_files');
  if (listing === undefined) return call('I look around.', 'list_files', { depth: 3 });
  if (listing.how !== 'done') return { text: `I could not look: ${listing.text}` };
  return {
    text: `This is here:\n${filesIn(listing.text)
      .map((file) => `- ${file}`)
      .join('\n')}`,
  };
}

/** What the model knows about the folder whose tests must pass. */
interface Case {
  readonly reading: Reading;
  /** The files of the folder. */
  readonly files: readonly string[];
  readonly failure: Failure;
  readonly edits: readonly Called[];
}

function fix(reading: Reading): ScriptStep {
  const refused = refusalIn(reading);
  if (refused !== undefined) return refused;
  const { calls } = reading;
  const listing = calls.findLast(({ tool, how }) => tool === 'list_files' && how === 'done');
  if (listing === undefined) return call('I look around first.', 'list_files', { depth: 3 });
  const files = filesIn(listing.text);
  if (!files.some((file) => /\.test\.m?js$/.test(file)))
    return { text: 'I find no tests here that I can run: no file ends in .test.js.' };
  const ran = calls.findLastIndex(({ tool }) => tool === 'run_process');
  const edited = calls.findLastIndex(({ tool }) => tool === 'edit_file');
  const last = calls[ran];
  if (last === undefined || edited > ran || last.how === 'unknown') return runTests(calls, last);
  const tests = readTests(last.text);
  if (tests === undefined) return { text: `The tests do not run:\n${last.text.slice(-600)}` };
  if (tests.failed === 0) return finish(reading, editsIn(calls), tests.passed);
  const edits = editsIn(calls.slice(lastImprovement(calls)));
  const [failure] = tests.failures;
  if (failure === undefined)
    return { text: `${tests.failed} tests fail, and the report does not say how. I leave it.` };
  return repair({ reading, files, failure, edits });
}

function editsIn(calls: readonly Called[]): Called[] {
  return calls.filter(({ tool, how }) => tool === 'edit_file' && how === 'done');
}

/** The last test run with fewer failures than any run before: the edits up to it are kept. */
function lastImprovement(calls: readonly Called[]): number {
  let fewest: number | undefined;
  let best = 0;
  calls.forEach(({ tool, text }, i) => {
    const failed = tool === 'run_process' ? readTests(text)?.failed : undefined;
    if (failed === undefined) return;
    if (fewest !== undefined && failed < fewest) best = i;
    fewest = Math.min(failed, fewest ?? failed);
  });
  return best;
}

/** A call that was denied since the user's last message is not made again. */
function refusalIn({ calls, steers }: Reading): ScriptStep | undefined {
  const since = steers.at(-1)?.after ?? 0;
  const denied = calls.slice(since).findLast(({ how }) => how === 'denied');
  if (denied === undefined) return undefined;
  const reason = denied.text.match(/about this call">\n(.*)/)?.[1];
  const because = reason === undefined ? '' : ` ("${reason}")`;
  if (denied.tool !== 'edit_file')
    return { text: `Without running the tests I cannot tell what is wrong${because}. I leave it at that.` };
  const { path, old, new: wanted } = denied.args;
  return {
    text: `You did not want this edit${because}, so ${path} stays as it is. What I would have done:\n- ${lastLine(old)}\n+ ${lastLine(wanted)}`,
  };
}

function runTests(calls: readonly Called[], last: Called | undefined): ScriptStep {
  const text =
    last?.how === 'unknown'
      ? 'The outcome of the last command is unknown, so I run the tests again.'
      : calls.some(({ tool }) => tool === 'edit_file')
        ? 'Now the tests again.'
        : 'I run the tests.';
  return call(text, 'run_process', { argv: TEST_COMMAND });
}

function repair(known: Case): ScriptStep {
  const { failure, files, edits } = known;
  const test = files.find((file) => failure.files.some((named) => named.endsWith(`/${file}`)));
  if (test === undefined) return { text: `"${failure.name}" fails, and I do not find its file. I leave it.` };
  const testText = textOf(known, test);
  const told = `"${failure.name}" fails: ${failure.expected} was expected, ${failure.actual} came.`;
  if (testText === undefined) return call(`${told} I read the test.`, 'read_file', { path: test });
  const source = importOf(testText, test, files);
  if (source === undefined) return { text: `${told} I do not find what it tests.` };
  const text = textOf(known, source);
  if (text === undefined) return call(`It tests ${source}. I read that.`, 'read_file', { path: source });
  const tried = edits.map(({ args }) => String(args.new));
  const original = undone(text, edits);
  const next = repairsOf(original, calledIn(testText, failure.name)).find(
    (one) => !tried.includes(placed(original, one).new),
  );
  return next === undefined ? giveUp(told, source, edits) : attempt(source, original, next, edits.at(-1));
}

/** Tries the next correction; undoes the previous one if it did not help. */
function attempt(path: string, original: string, next: Repair, before: Called | undefined): ScriptStep {
  const back = before === undefined ? [] : [edit(path, String(before.args.new), String(before.args.old))];
  const { old, new: wanted } = placed(original, next);
  const why = before === undefined ? 'I think' : 'That was not it. I try whether';
  return {
    text: `${why} that in line ${next.line + 1} of ${path} \`${next.to}\` is meant, not \`${next.from}\`.`,
    calls: [...back, edit(path, old, wanted)],
  };
}

function giveUp(told: string, path: string, edits: readonly Called[]): ScriptStep {
  const last = edits.at(-1);
  const isBack =
    last === undefined || edits.some(({ args }) => args.new === last.args.old && args.old === last.args.new);
  if (isBack)
    return { text: `${told} I have tried every correction that I know, and none helped. The file is as it was.` };
  return {
    text: 'None of what I know helps. I put the file back.',
    calls: [edit(path, String(last.args.new), String(last.args.old))],
  };
}

/** After the tests pass: does what else was requested, and then answers. */
function finish({ steers }: Reading, edits: readonly Called[], passed: number): ScriptStep {
  const comment = steers.find(({ text }) => /\bcomment\b/i.test(text));
  const change = edits.findLast(({ args }) => !isComment(args));
  const commented = edits.some(({ args }) => isComment(args));
  if (comment !== undefined && change !== undefined && !commented) return commenting(change, comment);
  const also = commented ? '\nA comment says why.' : '';
  const rest = steers.filter((said) => said !== comment && !/^\s*(go on|continue|yes|ok|thanks?)\b/i.test(said.text));
  const unable = rest.map(({ text }) => `\nYou also said "${text}": that is more than my rules can do.`).join('');
  if (change === undefined) return { text: `${passing(passed)} There is nothing to fix.${unable}` };
  return {
    text: `${passing(passed)} ${String(change.args.path)} had one mistake: it said\n  ${lastLine(change.args.old)}\nand now says\n  ${lastLine(change.args.new)}${also}${unable}`,
  };
}

function passing(tests: number): string {
  return tests === 1 ? 'The test passes.' : `All ${tests} tests pass.`;
}

function commenting({ args }: Called, { text }: Said): ScriptStep {
  const words = text.match(/["“](.+?)["”]/)?.[1] ?? 'The bound itself belongs to it.';
  const lines = String(args.new).split('\n');
  const indent = lines.at(-1)?.match(/^\s*/)?.[0] ?? '';
  const above = [...lines.slice(0, -1), `${indent}// ${words}`, lines.at(-1)].join('\n');
  return {
    text: 'They pass. I add the comment that you asked for.',
    calls: [edit(String(args.path), String(args.new), above)],
  };
}

function isComment({ old, new: wanted }: Called['args']): boolean {
  return String(wanted).split('\n').length > String(old).split('\n').length;
}

function progressOf(calls: readonly Called[]): string {
  const edits = editsIn(calls);
  if (edits.length === 0) return 'Nothing was changed.';
  const paths = [...new Set(edits.map(({ args }) => String(args.path)))];
  return `Changed so far: ${paths.join(', ')}; the tests may not have been run since.`;
}

/** The text of a file as last read, with the edits since then. */
function textOf({ reading: { calls } }: Case, path: string): string | undefined {
  let text: string | undefined;
  for (const { tool, args, how, text: answer } of calls) {
    if (args.path !== path || how !== 'done') continue;
    if (tool === 'read_file') text = fileText(answer);
    if (tool === 'edit_file') text = text?.replace(String(args.old), () => String(args.new));
  }
  return text;
}

/** The text before the last correction. */
function undone(text: string, edits: readonly Called[]): string {
  const last = edits.at(-1);
  return last === undefined ? text : text.replace(String(last.args.new), () => String(last.args.old));
}

/** A correction, with as many lines above it as needed to make its position unique. */
function placed(source: string, { line, old, new: wanted }: Repair): { readonly old: string; readonly new: string } {
  const lines = source.split('\n');
  for (let from = line; from >= 0; from--) {
    const above = lines.slice(from, line);
    const text = [...above, old].join('\n');
    if (source.split(text).length === 2) return { old: text, new: [...above, wanted].join('\n') };
  }
  return { old, new: wanted };
}

/** The file of the folder that a test imports. */
function importOf(test: string, path: string, files: readonly string[]): string | undefined {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  return [...test.matchAll(/from '(\.[^']+)'/g)]
    .map(([, named = '']) => new URL(named, `file:///${folder}`).pathname.slice(1))
    .find((file) => files.includes(file));
}

/** The names of the functions that a test calls. */
function calledIn(test: string, name: string): string[] {
  const [, rest = ''] = test.split(name);
  const body = rest.split(/^\s*(?:test|it)\(/m)[0] ?? '';
  return [...body.matchAll(/\b(\w+)\(/g)].map(([, called = '']) => called);
}

function filesIn(listing: string): string[] {
  return [...listing.matchAll(/^file \S+ \S+ (.+)$/gm)].map(([, file = '']) => file);
}

function lastLine(text: unknown): string {
  return String(text).split('\n').at(-1)?.trim() ?? '';
}

function edit(path: string, old: string, wanted: string) {
  return { tool: 'edit_file', args: { path, old, new: wanted } };
}

function call(
  text: string,
  tool: string,
  args: Readonly<Record<string, string | number | readonly string[]>>,
): ScriptStep {
  return { text, calls: [{ tool, args: args as never }] };
}
