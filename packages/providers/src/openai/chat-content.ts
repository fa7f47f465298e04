/** The content of a chat answer: a text, or a list of parts as several servers' reasoning models send it. */
import { isJsonObject } from '../model/json.js';
import { type Fields, textIn } from '../wire/answer-stream.js';

/** A part of an answer's content. */
export type ContentPart =
  | { readonly kind: 'text' | 'refusal'; readonly text: string }
  /** Reasoning, and its form at the provider. */
  | { readonly kind: 'thinking'; readonly text: string; readonly native: Fields }
  | { readonly kind: 'other'; readonly native: Fields };

/** The most content parts of one answer that are read. */
const CONTENT_PARTS_MAX = 10_000;

/** Reads the parts of a content; undefined when it has another shape. */
export function contentParts(content: unknown): ContentPart[] | undefined {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  if (isJsonObject(content)) return [partOf(content)];
  if (!Array.isArray(content) || content.length > CONTENT_PARTS_MAX) return undefined;
  const parts: ContentPart[] = [];
  for (const given of content as readonly unknown[]) {
    if (typeof given === 'string') parts.push({ kind: 'text', text: given });
    else if (isJsonObject(given)) parts.push(partOf(given));
    else return undefined;
  }
  return parts;
}

function partOf(part: Fields): ContentPart {
  if (part.type === 'thinking' || part.type === 'reasoning') {
    return { kind: 'thinking', text: thoughtIn(part.thinking ?? part.reasoning ?? part.text), native: part };
  }
  if (part.type === 'refusal') return { kind: 'refusal', text: textIn(part.refusal) };
  if (typeof part.text === 'string' || part.type === 'text') return { kind: 'text', text: textIn(part.text) };
  return { kind: 'other', native: part };
}

/** Reads reasoning given as a text or as a list of texts. */
function thoughtIn(given: unknown): string {
  if (!Array.isArray(given)) return textIn(given);
  return given.map((part) => (isJsonObject(part) ? textIn(part.text) : textIn(part))).join('');
}

/** Builds a content that arrives in pieces. */
export class GrowingContent {
  private readonly parts: ContentPart[] = [];
  private readonly texts: string[] = [];
  /** Other fields of reasoning pieces, by the index of their part. */
  private readonly marks = new Map<number, Record<string, unknown>>();

  /** Adds the parts of the next piece. */
  add(parts: readonly ContentPart[]): boolean {
    for (const part of parts) this.addPart(part);
    return this.parts.length <= CONTENT_PARTS_MAX;
  }

  /** The content in the form of an answer that did not stream. */
  whole(): unknown {
    const parts = this.parts.map((part, i) => wholePart(part, this.texts[i] ?? '', this.marks.get(i) ?? {}));
    if (parts.length > 1 || parts.some(({ type }) => type !== 'text')) return parts;
    return parts[0]?.text ?? '';
  }

  /** Joins consecutive pieces of one kind into one part. */
  private addPart(part: ContentPart): void {
    const same = this.parts.at(-1)?.kind === part.kind && part.kind !== 'other';
    if (!same) {
      this.parts.push(part);
      this.texts.push('');
    }
    const at = this.parts.length - 1;
    if (part.kind !== 'other') this.texts[at] += part.text;
    if (part.kind === 'thinking') this.mark(at, part.native);
  }

  private mark(at: number, native: Fields): void {
    const marks = this.marks.get(at) ?? {};
    this.marks.set(at, marks);
    for (const [name, field] of Object.entries(native)) if (field !== null) marks[name] = field;
  }
}

function wholePart(part: ContentPart, text: string, marks: Fields): Record<string, unknown> {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text };
    case 'refusal':
      return { type: 'refusal', refusal: text };
    case 'thinking':
      return { ...marks, ...thoughtOf(marks, text) };
    case 'other':
      return { ...part.native };
  }
}

/** Rebuilds a reasoning part in the form that its pieces had. */
function thoughtOf(native: Fields, text: string): Fields {
  const field = ['thinking', 'reasoning', 'text'].find((name) => native[name] !== undefined && native[name] !== null);
  if (field === undefined) return {};
  return { [field]: Array.isArray(native[field]) ? [{ type: 'text', text }] : text };
}
