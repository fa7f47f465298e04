/** The requests of the page, as commands of a session. Nothing is stored here; the world does. */
import { type AgentWorld, type AnyAgent, actorWords, type CommandReceipt, type Decided, type Session } from 'reprise';
import { toolDifferences } from 'reprise/history';
import { HttpRefusal } from 'reprise/server';
import { afterOf, answerChatInput, readChatInput, uiFollowResponse, uiMessageResponse, uiMessages } from 'reprise/ui';
import * as z from 'zod';

const chatId = z.string().regex(/^[\w.:-]{1,128}$/, 'expected an id of a chat');
const decision = z.strictObject({
  id: z.string(),
  approve: z.boolean(),
  reason: z.string().max(2_000).optional(),
  /** Of a tool that has changed: the digest of both versions, which the page has shown. */
  digest: z.string().max(64).optional(),
});
const answer = z.strictObject({ id: z.string(), answer: z.unknown() });
const steer = z.strictObject({ id: chatId, text: z.string().min(1).max(100_000) });
const nothing = z.strictObject({});

/** The person at the page, as the journal names them. */
const GUEST = { as: 'human:guest' } as const;

/** One request: its place below `/api/chat`, what it may say, and which events its sender already has. */
export interface ChatRequest {
  readonly method: string;
  readonly chat: string | undefined;
  readonly what: string;
  readonly headers: Headers;
  body(): Promise<unknown>;
}

/** Carries out the requests of pages. */
export class ChatRequests {
  constructor(
    private readonly world: AgentWorld,
    private readonly agent: AnyAgent,
  ) {}

  async answer(request: ChatRequest): Promise<Response> {
    const { method, chat, what } = request;
    if (method !== 'GET' && method !== 'POST')
      throw new HttpRefusal(405, `${method} is not supported: use GET or POST.`, { allow: 'GET, POST' });
    if (chat === undefined) {
      if (method !== 'POST') throw new HttpRefusal(405, 'A message is sent with POST.', { allow: 'POST' });
      return this.#message(await request.body(), request.headers);
    }
    const session = this.world.session(chatId.parse(chat), this.agent);
    return method === 'GET' ? this.#read(session, what, request.headers) : this.#command(session, what, request);
  }

  /**
   * Takes a message. A repeated message is the same input, so a page may send it again until it knows that it arrived.
   * A page that follows the chat asks for JSON; otherwise the answer streams at once.
   */
  async #message(body: unknown, headers: Headers): Promise<Response> {
    const given = readChatInput(body);
    const run = await answerChatInput(this.world.session(given.chat, this.agent), given, GUEST);
    if (headers.get('accept') !== 'application/json') return uiMessageResponse(run);
    return Response.json({ message: given.id, run: run.id }, { status: 202 });
  }

  async #read(session: Session, what: string, headers: Headers): Promise<Response> {
    switch (what) {
      case '': // The messages so far.
        await known(session);
        return Response.json(await uiMessages(session));
      case 'follow': // The messages so far, and those to come; a chat may begin later.
        return uiFollowResponse(session, { after: afterOf({ headers }) });
      case 'stream': {
        const number = (await known(session)).run?.number;
        const run = number === undefined ? undefined : await session.run(number);
        return run === undefined ? new Response(null, { status: 204 }) : uiMessageResponse(run);
      }
      default:
        throw new HttpRefusal(404, `There is nothing to read at "${what}".`);
    }
  }

  async #command(session: Session, what: string, request: ChatRequest): Promise<Response> {
    const body = await request.body();
    switch (what) {
      case 'steer': {
        const { id, text } = steer.parse(body);
        await known(session);
        return receipt(await session.steer(text, { ...GUEST, id }));
      }
      case 'stop':
        nothing.parse(body);
        await known(session);
        return receipt(await session.cancel({ ...GUEST, reason: 'Stop was pressed.' }));
      case 'resume':
        nothing.parse(body);
        await known(session);
        return receipt(await session.resume(GUEST));
      case 'decide': {
        const { id, approve, reason = 'The guest said no.', digest } = decision.parse(body);
        await this.#requireOwn(session, id);
        const shown = digest === undefined ? GUEST : { ...GUEST, digest };
        return decided(await this.world.decide(id, approve ? { approve } : { deny: reason }, shown));
      }
      case 'answer': {
        const given = answer.parse(body);
        await this.#requireOwn(session, given.id);
        return decided(await this.world.answer(given.id, given.answer, GUEST));
      }
      default:
        throw new HttpRefusal(404, `There is nothing to do at "${what}".`);
    }
  }

  /** Refuses an approval or a question of another chat. The chat owns those of its own session and of its children. */
  async #requireOwn(session: Session, id: string): Promise<void> {
    await known(session);
    const pending = await this.world.pending({ session: session.key });
    if (pending.some((item) => item.id === id)) return;
    for await (const event of session.events({ tree: true, inline: 0, follow: false }))
      if (event.type === 'human.requested' && event.id === id) return;
    throw new HttpRefusal(404, `Chat "${session.key}" has no such question: it may belong to another chat.`);
  }
}

async function known(session: Session) {
  const state = await session.state();
  if (state === undefined)
    throw new HttpRefusal(404, `There is no chat "${session.key}" yet: it begins with its first message.`);
  return state;
}

function receipt(given: CommandReceipt): Response {
  if (given.status === 'rejected') throw new HttpRefusal(409, `Not now: ${given.code.replaceAll('_', ' ')}.`);
  return Response.json(given);
}

function decided({ status, actor, item }: Decided): Response {
  if (status === 'already_settled') {
    const by = actor === undefined ? 'here or elsewhere' : `by ${actorWords(actor)}`;
    throw new HttpRefusal(409, `This was decided already, ${by}.`);
  }
  // Nothing was decided: the page shows both versions, and decides again with the digest.
  if (status === 'changed' && item?.changed !== undefined)
    return Response.json({ status, digest: item.digest, differences: toolDifferences(item.changed) });
  return Response.json({ status });
}
