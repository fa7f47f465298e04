/**
 * The law of chat pages: a page that reconnects, at any time and behind any event, has in the end what a page has that
 * stayed, to the byte; it is what the journal tells; and it is valid for the AI SDK.
 */
import { type Cursor, defineAgent, defineTool, type Run, type Session } from '@reprise/agent';
import { safeValidateUIMessages, type UIMessage } from 'ai';
import { type ModelClient, scriptBy } from 'reprise/providers';
import { testWorld } from 'reprise/testing';
import { askHuman } from 'reprise/tools';
import * as z from 'zod';
import {
  followUiMessages,
  isSuperseded,
  toUIMessageStream,
  type UiChunk,
  type UiMessage,
  uiFollowResponse,
  uiMessageResponse,
  uiMessages,
} from '../../src/index.js';
import { messageOf, streamOf } from '../support/sdk-page.js';
import type { Act, Answer, Conversation } from './histories.js';

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  args: z.strictObject({ cents: z.int() }),
  approval: ({ args }) => args.cents > 100,
  run: ({ cents }) => `Paid ${cents}.`,
});

/** How a page shows and stores messages; a mutant does it in another way. */
export interface Pages {
  /** The parts of a message that count. */
  visible(message: UIMessage | UiMessage): readonly object[];
  /** Whether the page hands decisions on to the AI SDK. */
  readonly handsOn: boolean;
  /** The chunks that a page keeps when it reconnects behind a place. */
  kept(lines: readonly Line[], place: number): readonly Line[];
}

/** The pages as they are documented. */
export const PAGES: Pages = {
  visible: ({ parts }) => parts.filter((part) => !isSuperseded(part)),
  handsOn: true,
  kept: (lines, place) => lines.slice(0, place + 1),
};

/** A chunk as it arrives, with the id of its event. */
export interface Line {
  readonly chunk: UiChunk;
  readonly id?: Cursor;
}

/** One page and what became of its message. */
interface Seen {
  readonly who: string;
  readonly run: string;
  readonly message: Promise<UIMessage | undefined>;
}

/** How much was compared. */
export interface Compared {
  readonly pages: number;
  readonly messages: number;
}

/** Plays a conversation and compares all pages; throws what differs. */
export async function holdPages(conversation: Conversation, pages: Pages = PAGES): Promise<Compared> {
  const played = await play(conversation, pages);
  try {
    return await compare(played, pages);
  } finally {
    await played.close();
  }
}

/** The recorded stream of one input. */
interface Recorded {
  readonly run: Run;
  readonly lines: Line[];
  readonly whole: Promise<void>;
}

interface Played {
  readonly session: Session;
  readonly recorded: readonly Recorded[];
  readonly seen: readonly Seen[];
  readonly followers: readonly Follower[];
  close(): Promise<void>;
}

async function play({ waits, answers, acts }: Conversation, pages: Pages): Promise<Played> {
  const agent = defineAgent({
    name: 'a',
    model: 'm',
    instructions: '',
    tools: [pay, askHuman()],
    ...(waits ? { afterAnswer: { wait: '10m' as const } } : {}),
  });
  const world = await testWorld({ models: { m: modelOf(answers) }, agents: [agent] });
  const session = world.session('chat', agent);
  const recorded: Recorded[] = [];
  const seen: Seen[] = [];
  const followers: Follower[] = [];
  let n = 0;

  const pending = async (kind: 'approval' | 'question') => (await world.pending()).find((one) => one.kind === kind);
  const doing: Readonly<Record<Act['do'], () => Promise<unknown>>> = {
    send: async () => {
      const run = await session.send(`Input ${++n}`, { id: `m-${n}` });
      recorded.push(record(run));
      seen.push(stayed(run, `stays ${n}`, pages));
    },
    // A steer continues the answer of a run that waits, whose stream has ended: a page resumes it.
    steer: async () => (waits ? undefined : session.steer(`Steer ${++n}`, { id: `s-${n}` })),
    approve: async () => decided(await pending('approval'), (id) => world.decide(id, { approve: true })),
    deny: async () => decided(await pending('approval'), (id) => world.decide(id, { deny: 'no' })),
    answer: async () => decided(await pending('question'), (id) => world.answer(id, 'yes')),
    cancel: () => session.cancel({ scope: waits ? 'turn' : 'run' }),
    withdraw: () => session.withdraw(`m-${n}`),
    resume: () => session.resume(),
    reload: async () => {
      for (const one of recorded) {
        seen.push(stayed(one.run, `loads again ${n}`, pages));
        seen.push(reconnected(one, pages));
      }
      followers.push(follower(session, followers.at(-1)));
      await valid(await uiMessages(session), 'uiMessages in between');
    },
  };
  followers.push(follower(session, undefined));
  for (const [act, turns] of acts) {
    await doing[act.do]().catch(refused);
    for (let i = 0; i < turns; i++) await turn();
  }
  for (let i = 0; i < 200; i++) {
    await world.pump();
    const item = (await world.pending())[0];
    if (item !== undefined)
      await (item.kind === 'approval' ? world.decide(item, { approve: true }) : world.answer(item, 'yes'));
    else if (((await session.state())?.queued ?? 0) > 0) await session.resume().catch(refused);
    else break;
  }
  return { session, recorded, seen, followers, close: () => world.close() };
}

/** A promise whose failure is only reported when the law reads it: another failure may come first. */
function unheard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

async function decided(item: { readonly id: string } | undefined, decide: (id: string) => Promise<unknown>) {
  if (item !== undefined) await decide(item.id);
}

/** A command that does not fit the moment. */
function refused(error: unknown): void {
  if (!/request_rejected|invalid_argument/.test(String(error))) throw error;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A model that streams anything before it answers. */
function modelOf(answers: readonly Answer[]): ModelClient {
  let n = 0;
  let current: Answer | undefined;
  const final = scriptBy(() => {
    const { text = 'End.', reasoning = '', calls = [], fails = false } = current ?? {};
    if (fails) return { fail: 'provider_error_terminal/refused' };
    return {
      ...(text === '' && calls.length === 0 ? { text: '.' } : { text }),
      ...(reasoning === '' ? {} : { reasoning }),
      calls: calls.map((call) =>
        call === 'asks'
          ? { tool: 'ask_human', args: { question: 'Well?' } }
          : { tool: 'pay', args: { cents: call === 'paid' ? 500 : 5 } },
      ),
    };
  });
  return {
    ...final,
    generate: async (request, context) => {
      current = answers[n++];
      for (const attempt of current?.attempts ?? []) {
        context.progress({ type: 'delta.reset' });
        for (const piece of attempt) {
          context.progress({ type: 'delta', index: 0, ...piece });
          await turn();
        }
      }
      return final.generate(request, { ...context, progress: () => undefined });
    },
  };
}

function record(run: Run): Recorded {
  const lines: Line[] = [];
  return { run, lines, whole: unheard(linesOf(uiMessageResponse(run), lines)) };
}

/** Reads server-sent events as they come. */
async function linesOf(response: Response, lines: Line[]): Promise<void> {
  let rest = '';
  for await (const text of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    const events = (rest + text).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = event.match(/^data: (.*)$/m)?.[1] ?? '[DONE]';
      const id = event.match(/^id: (.*)$/m)?.[1];
      if (data !== '[DONE]') lines.push({ chunk: JSON.parse(data), ...(id === undefined ? {} : { id: id as Cursor }) });
    }
  }
}

function stayed(run: Run, who: string, { handsOn }: Pages): Seen {
  return { who, run: run.input ?? run.id, message: unheard(messageOf(toUIMessageStream(run), { handsOn })) };
}

/** A page that lost its connection behind the last event that it has. */
function reconnected({ run, lines }: Recorded, pages: Pages): Seen {
  const place = lines.findLastIndex(({ id }) => id !== undefined);
  const had = place < 0 ? [] : pages.kept(lines, place);
  const after = lines[place]?.id;
  const rest: Line[] = [];
  const message = linesOf(uiMessageResponse(run, { after }), rest).then(() =>
    messageOf(streamOf([...had, ...rest].map(({ chunk }) => chunk)), pages),
  );
  return { who: `reconnects behind ${after ?? 'nothing'}`, run: run.input ?? run.id, message: unheard(message) };
}

/** A page that follows the whole conversation. */
interface Follower {
  readonly messages: UiMessage[];
  cursor: Cursor | undefined;
  stop(): Promise<void>;
}

/** Follows from the beginning, or goes on from where another follower stands. */
function follower(session: Session, before: Follower | undefined): Follower {
  const left = new AbortController();
  const messages = [...(before?.messages ?? [])];
  const stop = async () => {
    left.abort();
    await done;
  };
  const made: Follower = { messages, cursor: before?.cursor, stop };
  const read = async () => {
    const { signal } = left;
    for await (const { message, answers, cursor } of followUiMessages(session, { signal, after: made.cursor })) {
      const known = messages.findIndex(({ id, role }) => id === message.id && role === message.role);
      if (known >= 0) messages[known] = message;
      else messages.splice(answers === undefined ? messages.length : placeBehind(messages, answers), 0, message);
      made.cursor = cursor ?? made.cursor;
    }
  };
  const done = read();
  return made;
}

function placeBehind(messages: readonly UiMessage[], input: string): number {
  return messages.findIndex(({ id }) => id === input) + 1;
}

async function compare({ session, recorded, seen, followers }: Played, pages: Pages): Promise<Compared> {
  const told = await uiMessages(session);
  await valid(told, 'uiMessages');
  await Promise.all(recorded.map(({ whole }) => whole));
  for (let i = 0; i < 20; i++) await turn();
  for (const [i, { messages, stop }] of followers.entries()) {
    await stop();
    same(`follower ${i}`, JSON.stringify(messages), JSON.stringify(told));
  }
  const every = [...seen, ...recorded.flatMap((one) => everyPlace(one, pages))];
  for (const { who, run, message } of every) {
    const found = await message;
    const answer = told[told.findIndex(({ id, role }) => id === run && role === 'user') + 1];
    if (found === undefined || answer === undefined) throw new Error(`${who} of ${run}: no answer`);
    await valid([found], `${who} of ${run}`);
    same(`${who} of ${run}`, bytesOf(found, pages), bytesOf(answer, pages));
  }
  // The bytes of the event stream of the conversation: the journal gives them again.
  const whole = await pastOf(session);
  same('the past of the conversation', await pastOf(session), whole);
  return { pages: every.length + followers.length, messages: told.length };
}

/** A page behind each event of a stream. */
function everyPlace({ run, lines }: Recorded, pages: Pages): Seen[] {
  return lines.flatMap(({ id }, place) => {
    if (id === undefined) return [];
    const rest: Line[] = [];
    const message = linesOf(uiMessageResponse(run, { after: id }), rest).then(() =>
      messageOf(streamOf([...pages.kept(lines, place), ...rest].map(({ chunk }) => chunk)), pages),
    );
    return [{ who: `reconnects at last behind ${id}`, run: run.input ?? run.id, message: unheard(message) }];
  });
}

async function pastOf(session: Session): Promise<string> {
  let text = '';
  for await (const piece of (uiFollowResponse(session).body as ReadableStream<Uint8Array>).pipeThrough(
    new TextDecoderStream(),
  )) {
    text += piece;
    if (text.includes('event: caught-up')) break;
  }
  return text;
}

function bytesOf(message: UIMessage | UiMessage, { visible }: Pages): string {
  return JSON.stringify({ ...message, parts: visible(message) });
}

async function valid(messages: readonly (UIMessage | UiMessage)[], who: string): Promise<void> {
  if (messages.length === 0) return;
  const result = await safeValidateUIMessages({ messages: JSON.parse(JSON.stringify(messages)) });
  if (!result.success) throw new Error(`not valid: ${who}: ${JSON.stringify(messages)}`);
}

function same(who: string, found: string, expected: string): void {
  if (found !== expected) throw new Error(`differs: ${who}\n found ${found}\n told  ${expected}`);
}
