/** What the server says by itself: the newest frame, and whether a process has the world open. */
import type { FollowMessage, WorldReport } from '../../src/contract/reports.js';
import { ask, ReportFailure } from './api.js';
import { sourceOf, useSource } from './source.js';

/** What is known of the world as it is now. */
export interface Live {
  /** The path of the world as the user named it. */
  readonly path: string;
  readonly frame: number;
  readonly at: number;
  readonly head: string;
  readonly process: WorldReport['process'];
  /** How long the process that has it open has written nothing, in milliseconds. */
  readonly silent_ms: number;
  /** Whether the server is heard. */
  readonly isConnected: boolean;
}

let live: Live = { path: '', frame: -1, at: 0, head: '', process: 'unknown', silent_ms: 0, isConnected: false };
const told = sourceOf(live);
let isScheduled = false;

/** The least time between two changes of what is shown, in milliseconds. */
const PAUSE_MS = 150;
const RETRY_MS = 1_000;

function change(part: Partial<Live>): void {
  live = { ...live, ...part };
  if (isScheduled) return;
  isScheduled = true;
  setTimeout(() => {
    isScheduled = false;
    told.set(live);
  }, PAUSE_MS);
}

/** What is known of the world as it is now, again whenever it changes. */
export function useLive(): Live {
  return useSource(told);
}

/** Begins with what the world was when the page was opened, and follows it until the page is closed. */
export async function follow(world: WorldReport): Promise<void> {
  const { path, last, head, process } = world;
  // At once: what is asked for the newest frame is asked for this one.
  live = { ...live, path, frame: last.frame, at: last.at, head, process };
  told.set(live);
  for (;;) {
    try {
      const response = await ask('/api/follow');
      change({ isConnected: true });
      if (response.body !== null) await listen(response.body);
    } catch (error) {
      // A server that does not know this page is another one; otherwise the next attempt says whether it is back.
      if (error instanceof ReportFailure && error.status === 401) return;
    }
    change({ isConnected: false });
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function listen(body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (text + value).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) take(event);
  }
}

function take(event: string): void {
  const data = event
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart())
    .join('\n');
  if (data === '') return;
  const message = JSON.parse(data) as FollowMessage;
  if (message.type === 'head') change({ frame: message.frame, at: message.at, head: message.head, silent_ms: 0 });
  else change({ process: message.process, silent_ms: message.silent_ms });
}
