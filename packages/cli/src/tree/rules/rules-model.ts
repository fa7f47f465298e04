/**
 * The model `rules`: written rules in place of a neural network, for trees that need no key and no network. It truly
 * reads the folder by its tools: it lists, reads and searches, splits its goal into the parts that it finds, and makes
 * one report of what they say. It decides from the conversation alone.
 */
import type { Value } from '@reprise/contracts';
import { type ModelClient, type ScriptRequest, type ScriptStep, scriptBy } from '@reprise/providers';
import { type Folder, type FoundFile, folderIn, nameOf } from './folder.js';
import { type Called, isMaking, type Reading, readRequest } from './reading.js';
import { filesOf, findings, listing, looks, matchCount, type Place, plural, wasLookedInto } from './survey.js';

/** The name of the model. */
export const RULES = 'rules';

/** Folders of other people's files, and hidden ones. */
const PASSED_OVER = /^(?:\..*|node_modules|bower_components|vendor|dist|build|out|target|coverage|venv|__pycache__)$/;
/** A part with fewer entries is looked at by one node. */
const SPLIT_ABOVE = 40;
/** The parts that a node makes at most; what is left is one more. */
const PARTS_MAX = 7;
/** Characters of a request that count as one token. */
const TOKEN_CHARACTERS = 4;

/** A model of fixed rules, with which a tree works without a provider. */
export function rulesModel(): ModelClient {
  const model = scriptBy((request) => counted(request, nextStep(request)));
  return { ...model, profile: { ...model.profile, profile_id: RULES, model_default: RULES, provider: RULES } };
}

/** The model's answer to a request. Pure. */
export function nextStep(request: ScriptRequest): ScriptStep {
  const reading = readRequest(request);
  if (!reading.tools.has('complete')) return { text: reportWithout(reading) };
  if (reading.question !== undefined && reading.tools.has('answer')) return answer(reading, reading.question);
  if (reading.calls.some(({ tool, isError }) => tool === 'complete' && !isError)) return { text: 'It is done.' };
  if (reading.calls.filter(({ tool }) => tool === 'complete').length >= 3)
    return { text: 'I cannot give such a result.' };
  if (reading.synthesizes) return complete(reading, synthesis(reading), folderIn(reading.all));
  if (reading.calls.some(isMaking)) return { text: `${madeOf(reading.calls)} I go on when they have ended.` };
  return work(reading);
}

function work(reading: Reading): ScriptStep {
  const { calls, tools } = reading;
  const place = placeOf(reading.task);
  const folder = folderIn(reading.all);
  if (!tools.has('list_files')) return complete(reading, 'I have no tools that read a folder.', folder);
  if (!folder.listed && calls.length > 2) return complete(reading, `I could not list \`${place.path}\`.`, folder);
  if (!folder.listed) return { text: `I look at ${place.path}.`, calls: [listing(place)] };
  const parts = place.filesOnly || !tools.has('spawn') ? [] : partsOf(place, folder);
  if (parts.length > 1 && !calls.some(({ tool }) => tool === 'spawn')) {
    const question = asked(reading, parts);
    if (question !== undefined) return question;
    return {
      text: `I split ${place.path} into ${plural(parts.length, 'part')}.`,
      calls: chosen(reading, parts).map((part) => spawn(part, reading)),
    };
  }
  if (!wasLookedInto(calls)) return { text: 'I look into it.', calls: looks(place, folder, questionOf(reading)) };
  return complete(reading, findings(place, folder, questionOf(reading)), folder);
}

/** The place that a task names: a line that this model writes into the tasks of its children. */
function placeOf(task: string): Place {
  const folder = /^Folder: (.+)$/m.exec(task)?.[1];
  const files = /^Files of: (.+)$/m.exec(task)?.[1];
  return { path: files ?? folder ?? '.', filesOnly: files !== undefined };
}

/** The question of the whole tree, with what people said since. */
function questionOf({ task, told }: Reading): string {
  const first = /^Question: (.+)$/m.exec(task)?.[1] ?? task.replace(/^(?:Folder|Files of): .+$/gm, '');
  return [first, ...told].join(' ');
}

/** The parts into which a place falls: its folders, and the files beside them. */
function partsOf(place: Place, folder: Folder): readonly Place[] {
  if (folder.entries < SPLIT_ABOVE && place.path !== '.') return [];
  const below = folder.folders.filter((path) => parentOf(path) === place.path && !PASSED_OVER.test(nameOf(path)));
  const only = below.length === 1 && filesOf({ ...place, filesOnly: true }, folder).length === 0 ? below[0] : undefined;
  if (only !== undefined) return partsOf({ path: only, filesOnly: false }, folder);
  const size = (path: string): number => filesOf({ path, filesOnly: false }, folder).length;
  const parts = below.toSorted((a, b) => size(b) - size(a) || (a < b ? -1 : 1)).slice(0, PARTS_MAX);
  const own = filesOf({ ...place, filesOnly: true }, folder);
  return [
    ...parts.toSorted().map((path) => ({ path, filesOnly: false })),
    ...(own.length === 0 ? [] : [{ path: place.path, filesOnly: true }]),
  ];
}

function parentOf(path: string): string {
  const at = path.lastIndexOf('/');
  return at < 0 ? '.' : path.slice(0, at);
}

function spawn({ path, filesOnly }: Place, reading: Reading) {
  const goal = filesOnly ? `Look at the files directly in ${path}` : `Look at ${path}`;
  const prompt = [
    `${goal}. Say what is there, with the names of files, and what it says about the question.`,
    `Question: ${questionOf(reading).replace(/\s+/g, ' ').trim().slice(0, 400)}`,
    `${filesOnly ? 'Files of' : 'Folder'}: ${path}`,
  ].join('\n');
  return { tool: 'spawn', args: { goal: goal.slice(0, 400), prompt } };
}

const ALL = 'all of them';

/** A question to people about the parts, when the goal wants to be asked. */
function asked(reading: Reading, parts: readonly Place[]): ScriptStep | undefined {
  const { tools, all, task } = reading;
  const isRoot = !/^Question: /m.test(task);
  if (!isRoot || !tools.has('ask') || !/\bask me\b/i.test(task) || all.some(({ tool }) => tool === 'ask'))
    return undefined;
  const options = [ALL, ...parts.filter(({ filesOnly }) => !filesOnly).map(({ path }) => path)].slice(0, 12);
  const args = { question: 'Which part shall I look at?', options, default: ALL, target: 'human' };
  return options.length < 3 ? undefined : { text: 'I ask which part matters.', calls: [{ tool: 'ask', args }] };
}

/** The parts that people want, if they were asked. */
function chosen({ all, answers }: Reading, parts: readonly Place[]): readonly Place[] {
  const call = all.findLast(({ tool }) => tool === 'ask');
  if (call === undefined) return parts;
  const said = /"answer"\s*:\s*"([^"]*)"/.exec(call.text)?.[1];
  const texts = said === undefined ? answers : [said];
  const wanted = parts.filter(
    ({ path, filesOnly }) => !filesOnly && texts.some((text) => text.trim() === path || text.endsWith(`: ${path}`)),
  );
  return wanted.length === 0 ? parts : wanted;
}

function madeOf(calls: readonly Called[]): string {
  const made = calls.filter(isMaking).length;
  const refused = calls.filter(({ tool, isError }) => tool === 'spawn' && isError).length;
  return `I made ${plural(made, 'part')}${refused === 0 ? '' : `; ${refused} could not be made`}.`;
}

/** One report of what the children found, and of what failed. */
function synthesis(reading: Reading): string {
  const { given, task } = reading;
  const results = given.filter(({ text }) => /^(?:`|The files directly in `|# |I could not)/.test(text.trim()));
  const question = questionOf(reading).replace(/\s+/g, ' ').trim().slice(0, 200);
  const files = new Set(results.flatMap(({ text }) => [...text.matchAll(/^- `([^`]+)`/gm)].map(([, path]) => path)));
  const place = placeOf(task);
  const where = place.path === '.' ? 'the folder' : `\`${place.path}\``;
  const first = results.map(({ text }) => `- ${text.trim().split('\n')[0]}`.replace(/^- # /, '- '));
  return [
    `# ${question}`,
    '',
    `I looked at ${plural(results.length, 'part')} of ${where}; ${plural(files.size, 'file')} ${files.size === 1 ? 'is' : 'are'} described below.`,
    '',
    ...first,
    ...results.flatMap(({ text }) => [
      '',
      ...text
        .trim()
        .split('\n')
        .map((line) => line.replace(/^#+ /, '## ')),
    ]),
  ].join('\n');
}

/** The call that gives the result, as the type of the node wants it. */
function complete(reading: Reading, text: string, folder: Folder): ScriptStep {
  const files = folder.files.map(({ path }) => path);
  const summary = (text.split('\n').find((line) => line !== '' && !line.startsWith('#')) ?? text).slice(0, 180);
  return {
    text: 'Here is what I found.',
    calls: [{ tool: 'complete', args: { result: typed(reading, text, folder, files), summary } }],
  };
}

function typed(reading: Reading, text: string, folder: Folder, files: readonly string[]): Value {
  const { returns, given } = reading;
  if (returns === 'boolean')
    return (
      matchCount(folder, questionOf(reading)) > 0 || /“[^”]+” stands in/.test(given.map((one) => one.text).join('\n'))
    );
  if (returns === 'list')
    return [...new Set([...files, ...namedIn(given.map((one) => one.text).join('\n'))])].slice(0, 200);
  if (returns === 'structured') return { report: text, files: files.slice(0, 200) };
  return returns === 'file' ? (largest(folder.files)?.path ?? '') : text;
}

function namedIn(text: string): readonly string[] {
  return [...text.matchAll(/^- `([^`]+)` \(/gm)].map(([, path = '']) => path);
}

function largest(files: readonly FoundFile[]): FoundFile | undefined {
  return files.toSorted((a, b) => b.bytes - a.bytes)[0];
}

function answer({ calls, task }: Reading, ask_id: number): ScriptStep {
  if (calls.some(({ tool }) => tool === 'answer')) return { text: 'I have answered.' };
  const option = /^(?:Options|Possible answers)[^\n]*?:\s*"?([^",\n]+)/im.exec(task)?.[1];
  return { text: 'I answer.', calls: [{ tool: 'answer', args: { ask_id, value: option ?? 'I do not know.' } }] };
}

/** For a session that is no node: what a summary of the conversation says. */
function reportWithout({ task, all }: Reading): string {
  return `The task was: ${task.slice(0, 400)} I made ${plural(all.length, 'call')}.`;
}

/** The same step with what it used, in tokens as people count them: about four characters each. */
export function counted({ system, messages }: ScriptRequest, step: ScriptStep): ScriptStep {
  const read = messages.reduce((sum, { text }) => sum + text.length, system.length);
  const written = (step.text ?? '').length + JSON.stringify(step.calls ?? []).length;
  const tokens = (characters: number): number => Math.ceil(characters / TOKEN_CHARACTERS);
  return { ...step, usage: { tokens_in: tokens(read), tokens_out: tokens(written) } };
}
