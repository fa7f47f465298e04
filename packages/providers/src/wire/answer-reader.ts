/**
 * Reads one answer of any format, streamed or whole: a server may send either, whatever the request said.
 *
 * Invariants
 * R1  Total: an answer that is not of the format is `malformed`; an answer that is cut off is `network`.
 * R2  Of a stopped answer only the text is kept, since anything else may be incomplete.
 * R3  The text that watchers were shown is the text of the answer, or the answer is malformed.
 * R4  A failed attempt states the usage that its provider reported before it failed: it was charged.
 */
import { present, type Usage, wellFormed } from '@reprise/contracts';
import { isJsonObject, parseBounded } from '../model/json.js';
import type { ModelContext, WrittenRequest } from '../model/model.js';
import type { RepeatedCalls } from '../model/profile-options.js';
import { cut } from '../model/text.js';
import { errorBody, ProviderError, retryable, statusInside } from '../model/verdict.js';
import { tokensKnown } from '../transport/attempts.js';
import type { Reply } from '../transport/http.js';
import type { Scrubber } from '../transport/scrub.js';
import { type AnswerReader, type Judged, malformed, noResponse, refusal } from '../transport/transport.js';
import type { AnswerAbout, ReadAnswer } from './answer.js';
import type { AnswerStream, Delta } from './answer-stream.js';
import { BodyKind } from './body-kind.js';
import { verdictOnWanted } from './wanted.js';

/** The error for a stream that ended too early. */
const CUT = 'the connection ended before the answer did';

/** How answers of a format are read. */
export interface AnswerFormat {
  /** Makes a reader for a streamed answer. */
  stream(scrubber: Scrubber, tell: (delta: Delta) => void): AnswerStream;
  /** Reads an answer from JSON data; undefined when the data is not an answer of the format. */
  read(body: unknown, about: AnswerAbout): ReadAnswer | undefined;
  /** Reads the field `usage` of an answer. */
  usage(reported: unknown): Pick<ReadAnswer, 'usage'>;
}

/** Facts about the request that reading an answer needs. */
interface Answering {
  readonly format: AnswerFormat;
  readonly written: WrittenRequest;
  readonly context: ModelContext;
  /** Call ids of the request's history. */
  readonly idsInUse: readonly string[];
  readonly scrubber: Scrubber;
  readonly repeatedCalls?: RepeatedCalls;
}

/** Reads the answer to one request, streamed or whole. */
export class FormatReader implements AnswerReader {
  private stream: AnswerStream | undefined;
  private kind: BodyKind | undefined;
  private isWhole = false;
  /** What is wrong with data that is no answer of the format. */
  private unread = 'it is not an answer of the format';
  /** Codes of departures from the format that leave one reading. */
  private readonly warnings: string[] = [];

  constructor(private readonly about: Answering) {}

  take(bytes: Uint8Array, response: Response): number | undefined {
    if (!response.ok || this.isWhole) return undefined;
    return this.stream === undefined ? this.begin(bytes, response.headers) : this.stream.push(bytes);
  }

  /** Reads the first bytes, until they show what the body is. */
  private begin(bytes: Uint8Array, headers: Headers): number | undefined {
    const declared = isEventStream(headers);
    this.kind ??= new BodyKind(declared);
    const kind = this.kind.take(bytes);
    if (kind === undefined) return undefined;
    this.isWhole = kind === 'json';
    if (this.isWhole === declared) this.warnings.push(`content_type:${cut(headers.get('content-type') || 'none', 64)}`);
    if (this.isWhole) return undefined;
    const { format, scrubber, context } = this.about;
    this.stream = format.stream(scrubber, (delta) => context.progress(delta));
    const all = this.kind.bytes;
    const end = this.stream.push(all);
    return end === undefined ? undefined : Math.max(0, end - (all.length - bytes.length));
  }

  judge(reply: Reply): Judged {
    const judged = this.verdict(reply);
    if (judged.ok || judged.failure.status !== 'error') return judged;
    const usage = this.reportedIn(reply);
    return usage === undefined ? judged : { ...judged, failure: { ...judged.failure, usage } };
  }

  // R4
  private reportedIn(reply: Reply): Usage | undefined {
    const { stream } = this;
    const isWhole = stream === undefined && reply.kind === 'response';
    const parsed = isWhole ? parseBounded(textOf(reply.body)) : undefined;
    const whole = typeof parsed === 'object' && isJsonObject(parsed.data) ? parsed.data.usage : undefined;
    const { usage } = this.about.format.usage(stream === undefined ? whole : stream.reported);
    return tokensKnown(usage) ? usage : undefined;
  }

  private verdict(reply: Reply): Judged {
    if (reply.kind === 'response')
      return this.stream === undefined ? this.whole(reply) : this.streamed(reply, this.stream);
    const said = this.stream?.text ?? '';
    return reply.kind === 'cancelled' && said !== ''
      ? this.interrupted(reply, said)
      : noResponse(reply.kind, reply.error);
  }

  private whole(reply: Reply & { kind: 'response' }): Judged {
    const { context, scrubber } = this.about;
    const parsed = parseBounded(textOf(reply.body));
    const body = scrubber.value(typeof parsed === 'object' ? parsed.data : undefined); // decoded
    const error = errorBody(body);
    const { status } = reply;
    if (status < 200 || status > 299) return refusal(reply, { status, error, body: this.text(reply) }, context);
    if (parsed === 'too_large') return noResponse('too_large');
    const answer = this.read(body);
    if (answer !== undefined) return this.answered(reply, answer);
    if (error !== undefined) return refusal(reply, { status: statusInside(error), error }, context);
    return malformed(this.text(reply), parsed === undefined ? notJson(this.text(reply)) : this.unread, status);
  }

  private streamed(reply: Reply & { kind: 'response' }, stream: AnswerStream): Judged {
    const error = errorBody(this.about.scrubber.value(stream.failure));
    if (error !== undefined) return refusal(reply, { status: statusInside(error), error }, this.about.context);
    if (stream.tooLarge) return noResponse('too_large');
    if (stream.malformed !== undefined) return malformed(this.text(reply), stream.malformed, reply.status);
    if (!stream.ended) return { ok: false, ...retryable('network'), error: new ProviderError(CUT, reply) };
    const answer = this.read(stream.answer());
    if (answer === undefined) return malformed(this.text(reply), stream.malformed ?? this.unread, reply.status);
    const why = this.differs(stream, answer);
    if (why !== undefined) return malformed(this.text(reply), why, reply.status);
    return this.answered(reply, { ...answer, warnings: [...stream.warnings, ...answer.warnings] });
  }

  // R3
  private differs({ text: shown }: AnswerStream, { text = '' }: ReadAnswer): string | undefined {
    const comparable = (one: string) => this.about.scrubber.scrub(wellFormed(one)).replaceAll('\ufffd', '');
    if (comparable(shown) === comparable(text)) return undefined;
    return 'the text that was streamed is not the text of the answer';
  }

  // R2
  private interrupted(reply: Reply, said: string): Judged {
    const text = wellFormed(this.about.scrubber.scrub(said));
    return this.answered(reply, { text, calls: [], finishReason: 'interrupted', usage: { calls: 1 }, warnings: [] });
  }

  /** The body with secrets scrubbed. */
  private text({ body }: Reply): string {
    return this.about.scrubber.scrub(textOf(body));
  }

  private read(body: unknown): ReadAnswer | undefined {
    const { format, idsInUse, scrubber, repeatedCalls } = this.about;
    return format.read(body, {
      ...{ idsInUse, scrub: (text) => scrubber.scrub(text) },
      unread: (why) => this.refuse(why),
      ...present({ repeatedCalls }),
    });
  }

  private refuse(why: string): undefined {
    this.unread = why;
  }

  private answered({ body }: Reply, { wanted, ...answer }: ReadAnswer): Judged {
    if (wanted !== undefined) return { ok: false, ...verdictOnWanted(wanted) };
    const received = textOf(body);
    const scrubbed = this.about.scrubber.scrub(received);
    const rawBody = scrubbed === received ? body : new TextEncoder().encode(scrubbed);
    const warnings = [...this.warnings, ...answer.warnings];
    return { ok: true, response: { ...answer, warnings, request: this.about.written, rawBody } };
  }
}

function isEventStream(headers: Headers): boolean {
  return /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes);
}

/** A web page is what most wrong addresses answer. */
function notJson(body: string): string {
  return /^\s*<(?:!doctype html|html)\b/i.test(body) ? 'it is a web page' : 'it is not JSON';
}
