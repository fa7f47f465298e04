/** The commands that can be typed besides messages. */

import { describePattern } from './approvals/patterns.js';
import type { Chat } from './chat.js';
import { EMBEDDED } from './demo/fixer.js';
import { fork } from './fork.js';
import { eventsOf, messagesOf, steersOf } from './log.js';
import { modelNamed } from './models.js';
import { PERSON } from './person.js';
import { worldFile, worldsIn } from './places.js';
import { callLine, wholeCall } from './terminal/calls.js';
import { outputLines, plain } from './terminal/text/plain.js';
import { type Line, span } from './terminal/text/spans.js';
import { fitting } from './terminal/text/width.js';
import { dollars } from './usage.js';
import { whyLines } from './why.js';

/** A command typed at the terminal. */
export interface Command {
  readonly name: string;
  /** The arguments, as the help text shows them. */
  readonly takes?: string;
  readonly help: string;
  /** Whether it only reads: then it does not wait for another command. */
  readonly reads?: true;
  run(chat: Chat, rest: string): Promise<void>;
}

/** All commands, in the order of `/help`. */
export const COMMANDS: readonly Command[] = [
  { name: 'help', reads: true, help: 'this list', run: help },
  { name: 'status', reads: true, help: 'where the conversation stands, and what it has used', run: status },
  { name: 'log', reads: true, help: 'your messages, and what came of each', run: log },
  {
    name: 'why',
    reads: true,
    takes: '[FILE]',
    help: 'how the last call, or FILE, came about: back to your words',
    run: why,
  },
  {
    name: 'show',
    takes: '[N]',
    reads: true,
    help: 'the whole of call N, or of the last one, and of its output',
    run: show,
  },
  {
    name: 'fork',
    takes: '[N]',
    help: 'goes back before message N (or on from here), in a fork; @F: after frame F',
    run: fork,
  },
  {
    name: 'worlds',
    takes: '[N]',
    help: 'the worlds of this folder: the first and its forks; goes to one',
    run: worlds,
  },
  { name: 'then', takes: 'TEXT', help: 'says TEXT when the run is over', run: then },
  { name: 'model', takes: 'NAME', help: 'goes on with another model', run: model },
  {
    name: 'allowed',
    takes: '[drop N]',
    reads: true,
    help: 'what is allowed without a question; takes entry N back',
    run: allowed,
  },
  { name: 'compact', help: "makes room in the model's window: a summary in place of what is old", run: compact },
  { name: 'more', help: 'lets a run go on that has reached a limit', run: more },
  { name: 'resume', help: 'lets go on what waits behind a run that was stopped', run: resume },
  { name: 'new', help: 'begins a new conversation', run: fresh },
  { name: 'verify', help: 'replays everything and compares the bytes', run: verify },
  { name: 'quit', help: 'leaves; a run under way goes on next time', run: (chat) => chat.leave(0) },
];

async function help(chat: Chat): Promise<void> {
  const rows = COMMANDS.map(({ name, takes, help: text }) => [
    `/${name}${takes === undefined ? '' : ` ${takes}`}`,
    text,
  ]);
  chat.tell(
    'What you type goes to the agent: as a message, or, while it works, as something it reads before its next step.',
    'Several lines: Shift-Enter, Alt-Enter, Ctrl-J, or a backslash before Enter. A paste is one message.',
    'When it asks: y yes · n no (n and why: it is told) · a always, for what the question names · e change it first · v all of it; then Enter.',
    'Only what you type while the question stands there decides; a paste never does; y counts when the end was on the screen.',
    'Ctrl-C clears what is typed, then stops the run, then leaves. Esc stops the run. Up and down: what you typed before.',
    'Ctrl-O or /show: the whole of the last call. Tab completes commands. Ctrl-Z suspends, Ctrl-L draws again.',
    ...rows.map(([left = '', right = '']) => `  ${left.padEnd(18)}${right}`),
  );
}

async function status(chat: Chat): Promise<void> {
  const { world, session, file, options } = chat.desk;
  const state = await session.state();
  if (state === undefined) return chat.tell(`nothing was said yet · world ${file}`);
  const tally = state.run?.tally ?? state.last?.tally;
  const patterns = chat.allowed.list.map(describePattern);
  const waiting = await world.pending({ session: session.key });
  chat.tell(
    `${state.lifecycle}${state.waiting === null ? '' : `, waits for ${state.waiting.for}`} · ${count(state.runs, 'message')} · ${count(state.items, 'item')} in the transcript`,
    `model ${state.config.model} · folder ${options.folder}`,
    ...(tally === undefined
      ? []
      : [
          `this run: ${count(tally.steps, 'step')}, ${tally.tokens_in} tokens in, ${tally.tokens_out} out${tally.micro_money === 0 ? '' : `, ${dollars(tally.micro_money)}`}`,
        ]),
    ...(waiting.length === 0 ? [] : [`waits for you: ${waiting.map(({ tool, kind }) => tool ?? kind).join(', ')}`]),
    ...(patterns.length === 0 ? [] : [`allowed without a question: ${patterns.join('; ')}`]),
    `world ${file}, frame ${world.kernel.head.seq}`,
  );
}

async function log(chat: Chat): Promise<void> {
  const rows = (await messagesOf(chat.desk.session)).map(
    ({ number, frame, text, end = 'under way' }) =>
      `${String(number).padStart(3)}  ${String(frame).padStart(5)}  ${fitting(plain(text).replaceAll('\n', ' '), 70)}  → ${end}`,
  );
  chat.tell(...(rows.length === 0 ? ['nothing was said yet'] : ['  #  frame  message', ...rows]));
}

async function why(chat: Chat, what: string): Promise<void> {
  const { session, world } = chat.desk;
  const lines = whyLines(await eventsOf(session), what, await steersOf(session, world));
  if (lines === undefined)
    chat.complain(what === '' ? 'nothing was called yet' : `no call wrote ${what}, and none has this id`);
  else chat.tell(...lines);
}

async function worlds(chat: Chat, which: string): Promise<void> {
  const { options, number } = chat.desk;
  const numbers = await worldsIn(options.worlds);
  if (which === '')
    return chat.tell(
      ...numbers.map((one) => `${one === number ? '›' : ' '} ${one}  ${worldFile(options.worlds, one)}`),
    );
  if (chat.isWorking) return chat.complain('it works: Ctrl-C stops it');
  if (!numbers.includes(Number(which)))
    return chat.complain(`there is no world ${which}; there are ${numbers.join(', ')}`);
  await chat.move({ ...options, world: Number(which), fresh: false });
  chat.tell(`world ${which}; the files in the folder are as they were left`);
}

async function then(chat: Chat, text: string): Promise<void> {
  if (text === '') return chat.complain('/then wants what to say afterwards');
  if (!chat.isWorking) return chat.say(text);
  chat.told(await chat.desk.session.followUp(text, PERSON), 'it is told that when this run is over');
}

async function model(chat: Chat, name: string): Promise<void> {
  if (name === '')
    return chat.tell(`the model is ${chat.desk.model}; /model NAME changes it, and ${EMBEDDED} is always there`);
  if (chat.isWorking) return chat.complain('while it works its model stays: Ctrl-C stops it');
  const { options, number } = chat.desk;
  modelNamed(name, options.reach); // throws with what is missing, before anything is closed
  await chat.move({ ...options, world: number, model: name, fresh: false });
  chat.tell(`from now on ${name} answers`);
}

async function allowed(chat: Chat, what: string): Promise<void> {
  const { list } = chat.allowed;
  if (what === '') {
    if (list.length === 0)
      return chat.tell('Nothing is allowed without a question; a ("always") at a question allows.');
    return chat.tell(
      'Allowed in this folder without a question; /allowed drop N takes one back:',
      ...list.map((pattern, i) => `${String(i + 1).padStart(3)}  ${describePattern(pattern)}`),
    );
  }
  const [, digits] = what.match(/^drop\s+(\d{1,6})$/) ?? [];
  if (digits === undefined) return chat.complain('/allowed, or /allowed drop N');
  const pattern = list[Number(digits) - 1];
  if (pattern === undefined) return chat.complain(`there is no entry ${digits}; /allowed lists them`);
  await chat.allowed.drop(pattern);
  chat.tell(`you are asked again about ${describePattern(pattern)}`);
}

async function show(chat: Chat, which: string): Promise<void> {
  const call = which === '' ? chat.view.call() : chat.view.call(Number(which.replace(/^#/, '')));
  if (call === undefined)
    return chat.complain(which === '' ? 'nothing was called yet' : `there is no call ${which} here`);
  const { lines, difference } = await wholeCall(call.tool, call.args, chat.desk.options.folder);
  const bytes = call.whole === undefined ? undefined : await chat.desk.world.kernel.content.get(call.whole);
  const text = bytes === undefined ? call.output : new TextDecoder().decode(bytes);
  const output: Line[] = text === '' ? [] : [[], ...outputLines(text)];
  const title = `#${call.number} ${callLine(call.tool, call.args)}`;
  const change = call.change ?? difference;
  const body = change === undefined ? lines : change.lines;
  await chat.page(title, [[span(title, 'bold')], ...body, ...output]);
}

const MORE = 100;

async function more(chat: Chat): Promise<void> {
  const state = await chat.desk.session.state();
  if (state?.waiting?.for !== 'limit') return chat.complain('nothing waits at a limit');
  const { max_steps, max_tool_rounds } = state.config.limits;
  const limits = { steps: max_steps + MORE, toolRounds: max_tool_rounds + MORE };
  chat.told(await chat.desk.session.reconfigure({ limits }, PERSON), `${MORE} steps more`);
}

async function compact(chat: Chat): Promise<void> {
  chat.told(await chat.desk.session.compact(PERSON), 'a model writes a summary before the next step');
}

async function resume(chat: Chat): Promise<void> {
  chat.told(await chat.desk.session.resume(PERSON), 'it goes on');
}

async function fresh(chat: Chat): Promise<void> {
  if (chat.isWorking) return chat.complain('it works: Ctrl-C stops it');
  await chat.move({ ...chat.desk.options, world: chat.desk.number, fresh: true });
  chat.tell('a new conversation; the one before is kept');
}

async function verify(chat: Chat): Promise<void> {
  const { replayed, records, head } = await chat.desk.world.verify();
  chat.tell(`${count(replayed, 'frame')} and ${records} records replayed, all equal, head sha256:${head.digest}`);
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}
