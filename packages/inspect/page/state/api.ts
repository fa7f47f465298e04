/**
 * Questions to the server. An answer for a frame never changes, so it is kept; an answer for the newest frame is kept
 * until the next frame.
 */
import type { ErrorReport } from '../../src/contract/reports.js';

/** What a question asks for: absent values are left out. */
export type Parameters = Readonly<Record<string, string | number | null | undefined>>;

/** An answer that is an error. */
export class ReportFailure extends Error {
  constructor(
    readonly status: number,
    readonly report: ErrorReport,
  ) {
    super(report.message);
  }
}

const HEADER = 'x-reprise-token';
let token = '';
let lost: () => void = () => {};

/**
 * Takes the token out of the address bar: it stays in the memory of this page alone, so that no history and no copied
 * address holds it.
 *
 * @param onLost when the server does not know this page
 */
export function takeToken(onLost: () => void): void {
  lost = onLost;
  token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search);
}

/** Whether the page was opened by the line that the terminal printed. */
export function hasToken(): boolean {
  return token !== '';
}

/** The path of a question with its parameters. */
export function urlOf(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters))
    if (value !== null && value !== undefined) query.set(key, String(value));
  const text = query.toString();
  return `/api/${path}${text === '' ? '' : `?${text}`}`;
}

/** Asks the server. @throws ReportFailure with what the server answered, or that it does not answer */
export async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers: { [HEADER]: token } });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ReportFailure(0, {
      code: 'unreachable',
      message: 'the program that serves this page does not answer',
      hint: 'Start `reprise inspect` again, and open the line that it prints.',
    });
  }
  if (response.ok) return response;
  if (response.status === 401) lost();
  throw new ReportFailure(response.status, await errorIn(response));
}

async function errorIn(response: Response): Promise<ErrorReport> {
  const plain = { code: String(response.status), message: `the server answered ${response.status}` };
  try {
    const body: unknown = await response.json();
    if (typeof body !== 'object' || body === null) return plain;
    const said = 'error' in body && typeof body.error === 'object' && body.error !== null ? body.error : body;
    return 'message' in said ? (said as ErrorReport) : plain;
  } catch {
    return plain;
  }
}

/** How many answers are kept. */
const KEPT_MAX = 300;
const kept = new Map<string, unknown>();

/** A kept answer; undefined when the question has not been answered. @param key the question and the frame it holds for */
export function keptAnswer(key: string): unknown {
  return kept.get(key);
}

/** A question that is being answered, for everything on the page that asks it. */
interface Open {
  readonly answer: Promise<unknown>;
  readonly stop: AbortController;
  users: number;
}

const open = new Map<string, Open>();

/** Asks a question once, however many parts of the page ask it, and keeps the answer. It is dropped when no part wants it. */
export function answerOf(url: string, key: string, signal: AbortSignal): Promise<unknown> {
  const shared = open.get(key) ?? begin(url, key);
  shared.users++;
  signal.addEventListener('abort', () => {
    shared.users--;
    if (shared.users > 0) return;
    shared.stop.abort();
    if (open.get(key) === shared) open.delete(key);
  });
  return shared.answer;
}

function begin(url: string, key: string): Open {
  const stop = new AbortController();
  const begun: Open = { answer: read(url, key, stop.signal).finally(() => ended()), stop, users: 0 };
  const ended = () => {
    if (open.get(key) === begun) open.delete(key);
  };
  open.set(key, begun);
  return begun;
}

async function read(url: string, key: string, signal: AbortSignal): Promise<unknown> {
  const response = await ask(url, { signal });
  const answer: unknown = await response.json();
  kept.set(key, answer);
  for (const old of kept.keys()) {
    if (kept.size <= KEPT_MAX) break;
    kept.delete(old);
  }
  return answer;
}
