/**
 * One conversation as this tab has it.
 *
 * The journal has the conversation; the tab follows it, so each tab shows the same, whichever tab sent it. Two streams lead
 * here: `follow` brings each message when it changes, and, while an answer is being written, the AI SDK's chat reads
 * the run's stream for the words between. Either may break: the tab asks again, from the place that it has.
 *
 * What the person wrote is stored in this browser until it shows up in the journal, under an id that makes it count
 * once however often it is sent.
 */
import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport, generateId } from 'ai';
import { approvalResponse } from 'reprise/ui';

const RETRY_MS = [250, 500, 1_000, 2_000];
const READ_AGAIN_MS = 250;
/** A message that another page was sending counts as not sent after this time. */
const SENDING_MS = 3_000;

export class Conversation {
  #listeners = new Set();
  #source;
  #cursor = '';
  #failures = 0;
  #timer;
  #isReading = false;
  /** The messages that this page is sending. */
  #sending = new Set();
  /** What React reads; replaced on each change. */
  now = { messages: [], outbox: [], connection: 'connecting', caughtUp: false };

  constructor(id) {
    this.id = id;
    this.box = `chat:${id}:outbox:`;
    this.chat = new Chat({
      id,
      transport: new DefaultChatTransport({ api: '/api/chat' }),
      onData: (part) => {
        const response = approvalResponse(part);
        if (response !== undefined) this.chat.addToolApprovalResponse(response);
        if (part.type === 'data-steer') this.#arrived([part.id]);
      },
    });
    this.#lookIntoBox();
    addEventListener('storage', ({ key }) => {
      if (key?.startsWith(this.box)) this.#lookIntoBox();
    });
    // A browser opens few connections to a server; tabs in the background leave them to the others.
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#leave() : this.#follow()));
    addEventListener('online', () => this.#follow());
    if (!document.hidden) this.#follow();
  }

  subscribe = (listener) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Sends a text: as a message of its own, or as a `steer` that the model reads in the middle of its work. */
  say(text, kind = 'message') {
    return this.send({ id: generateId(), at: Date.now(), text, kind });
  }

  /** Sends a message, perhaps again. */
  async send(entry) {
    const { id, text, kind } = entry;
    this.#sending.add(id);
    this.#put({ ...entry, state: 'sending' });
    const message = { id, role: 'user', parts: [{ type: 'text', text }] };
    const reply = await (kind === 'steer'
      ? this.post('steer', { id, text })
      : post('/api/chat', { id: this.id, messages: [message] }));
    if (reply.ok) return;
    this.#sending.delete(id);
    if (!this.now.outbox.some((one) => one.id === id)) return;
    if (kind === 'steer' && reply.status === 409) {
      // The answer ended before the server had the text, which becomes the next message.
      this.discard(id);
      await this.send({ ...entry, id: `${id}.m`, kind: 'message' });
    } else this.#put({ ...entry, state: isAway(reply) ? 'away' : 'refused', why: reply.why });
  }

  discard(id) {
    this.#arrived([id]);
  }

  /** Sends a command. The result has `ok` and what was `said`, or `why` it failed. */
  post(what, body = {}) {
    return post(`/api/chat/${this.id}/${what}`, body);
  }

  #change(change) {
    this.now = { ...this.now, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Shows what the box has. What no page seems to be sending any more was not sent: the person decides about it. */
  #lookIntoBox() {
    const entries = Object.keys(localStorage)
      .filter((key) => key.startsWith(this.box))
      .map((key) => JSON.parse(localStorage.getItem(key)))
      .sort((a, b) => a.at - b.at);
    const isLeft = ({ id, state, since }) =>
      state === 'sending' && !this.#sending.has(id) && Date.now() - since >= SENDING_MS;
    const left = { state: 'refused', why: 'The page that was sending it is closed.' };
    this.#change({ outbox: entries.map((entry) => (isLeft(entry) ? { ...entry, ...left } : entry)) });
    const isForeign = ({ id, state }) => state === 'sending' && !this.#sending.has(id);
    if (this.now.outbox.some(isForeign)) setTimeout(() => this.#lookIntoBox(), SENDING_MS / 4);
  }

  #put(entry) {
    localStorage.setItem(this.box + entry.id, JSON.stringify({ ...entry, since: Date.now() }));
    this.#lookIntoBox();
  }

  /** These are in the journal, or no longer wanted. */
  #arrived(ids) {
    for (const id of ids) this.#sending.delete(id);
    if (!this.now.outbox.some(({ id }) => ids.includes(id))) return;
    for (const id of ids) localStorage.removeItem(this.box + id);
    this.#lookIntoBox();
  }

  /** The server is back: what it missed is sent, in order. */
  async #sendMissed() {
    for (const entry of this.now.outbox.filter(({ state }) => state === 'away')) await this.send(entry);
  }

  #follow() {
    this.#leave();
    const source = new EventSource(`/api/chat/${this.id}/follow?after=${this.#cursor}`);
    this.#source = source;
    source.onmessage = ({ data, lastEventId }) => {
      this.#cursor = lastEventId || this.#cursor;
      this.#take(JSON.parse(data));
      void this.#readLive();
    };
    source.addEventListener('caught-up', ({ lastEventId }) => {
      this.#cursor = lastEventId || this.#cursor;
      this.#failures = 0;
      this.#change({ connection: 'open', caughtUp: true });
      void this.#sendMissed();
      void this.#readLive();
    });
    source.onerror = () => {
      this.#leave();
      this.#change({ connection: 'lost' });
      this.#timer = setTimeout(() => this.#follow(), RETRY_MS[Math.min(this.#failures++, RETRY_MS.length - 1)]);
    };
  }

  #leave() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
    if (document.hidden) this.chat.stop();
  }

  #take({ message, answers }) {
    const messages = [...this.now.messages];
    const known = messages.findIndex(({ id, role }) => id === message.id && role === message.role);
    if (known >= 0) messages[known] = message;
    else {
      const input = messages.findIndex(({ id }) => id === answers);
      messages.splice(input < 0 ? messages.length : input + 1, 0, message);
    }
    this.#change({ messages });
    const steers = message.parts.filter(({ type }) => type === 'data-steer').map(({ id }) => id);
    this.#arrived([message.id, ...steers]);
  }

  /** Reads the words of an answer while it is being written; from its beginning, whenever that stream broke. */
  async #readLive() {
    const isOpen = this.now.caughtUp && this.#source !== undefined;
    if (this.#isReading || !isOpen || !this.now.messages.some(isUnderWay)) return;
    this.#isReading = true;
    await this.chat.resumeStream();
    // The end of the answer may still be on its way here, or the stream broke.
    await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS));
    this.#isReading = false;
    void this.#readLive();
  }
}

/** Whether a message is an answer that goes on. */
export function isUnderWay({ role, metadata }) {
  return role === 'assistant' && metadata?.reprise?.stop === undefined;
}

/** Whether a request did not get through, and may later. */
function isAway({ status }) {
  return status === 0 || status >= 502;
}

async function post(url, body) {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  try {
    const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!reply.ok) return { ok: false, status: reply.status, why: await reply.text() };
    return { ok: true, status: reply.status, said: await reply.json().catch(() => ({})) };
  } catch {
    return { ok: false, status: 0, why: 'The server cannot be reached.' };
  }
}
