/**
 * Turns a server's answer into a tool's answer: texts and data in order, without repetition; images and files beside
 * them.
 */

import type { CallToolResult } from '@modelcontextprotocol/client';
import {
  contentType,
  SNIFF_BYTES,
  type ToolAnswer,
  type ToolContext,
  type ToolPart,
  toolError,
  toolParts,
} from '@reprise/agent';
import { endOfText, parseOwnJson, startOfText, type Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel';
import { LARGE_NUMBERS_AS_TEXT, warningsOf } from '../judge/answer-warnings.js';
import { withoutFiles } from './files-in-text.js';
import { Said } from './repeated-data.js';

type Block = CallToolResult['content'][number];
type File = Extract<ToolPart, { file: unknown }>;

/** The most files that one answer shows; further ones are counted. */
const FILES_MAX = 16;

/** How deep data is searched for files. */
const DEPTH_MAX = 16;

/** The parts of an answer, or the failure that it reports. */
export async function answerOf(result: CallToolResult, tool: string, ctx: ToolContext): Promise<ToolAnswer<Value>> {
  const answer = new Answer(tool, ctx);
  for (const block of result.content) await answer.add(block);
  const data = result.structuredContent === undefined ? undefined : beyond(result.content, result.structuredContent);
  await answer.addData(data);
  for (const warning of warningsOf(result))
    if (warning !== LARGE_NUMBERS_AS_TEXT || data !== undefined) ctx.warn?.(warning);
  return answer.end(result.isError === true);
}

/** The data of an answer that its blocks do not already contain. */
function beyond(content: readonly Block[], data: unknown): unknown {
  const texts = content.flatMap((block) => textsIn(block));
  return new Said(
    texts,
    content.flatMap((block) => partsIn(block).map(plain)),
  ).beyond(data);
}

function textsIn(block: Block): readonly string[] {
  if (block.type === 'text') return [block.text];
  return block.type === 'resource' && 'text' in block.resource ? [block.resource.text] : [];
}

/** The forms in which data may repeat a block: the whole block, without its annotations, or its bytes alone. */
function partsIn(block: Block): readonly unknown[] {
  if (block.type === 'image' || block.type === 'audio') {
    const { type, data, mimeType } = block;
    return [block, { type, data, mimeType }, data];
  }
  if (block.type !== 'resource') return [block];
  return 'blob' in block.resource ? [block, block.resource, block.resource.blob] : [block, block.resource];
}

/** Data in its wire form: without undefined members. */
function plain(part: unknown): unknown {
  return parseOwnJson(JSON.stringify(part));
}

/** Collects the parts of an answer. */
class Answer {
  readonly #parts: ToolPart[] = [];
  #files = 0;

  constructor(
    private readonly tool: string,
    private readonly ctx: ToolContext,
  ) {}

  async add(block: Block): Promise<void> {
    switch (block.type) {
      case 'text':
        return this.#addText(block.text);
      case 'image':
      case 'audio':
        return this.#addFile(undefined, block.data, block.mimeType);
      case 'resource_link':
        return this.#addText(`[resource ${block.name}: ${block.uri}]`);
      case 'resource': {
        const { resource } = block;
        if ('text' in resource) return this.#addText(`[resource ${resource.uri}]\n${resource.text}`);
        return this.#addFile(resource.uri, resource.blob, resource.mimeType);
      }
      default:
        return this.#addText(`[${String((block as { type: unknown }).type)}: content that cannot be shown]`);
    }
  }

  /** Adds the data that no block contains. */
  async addData(data: unknown): Promise<void> {
    if (data === undefined) return;
    const told = await this.#withoutFiles(data, DEPTH_MAX);
    this.#parts.push(...(told === undefined ? [] : [dataOf(told)]));
  }

  end(isError: boolean): ToolAnswer<Value> {
    if (this.#files > FILES_MAX) this.#parts.push(`[${this.#files - FILES_MAX} more files are not shown]`);
    if (!isError) return toolParts(...this.#parts);
    const texts = this.#parts.flatMap((part) =>
      typeof part === 'string' ? [part] : 'json' in part ? [JSON.stringify(part.json)] : [],
    );
    return toolError(texts.join('\n') || `${this.tool} failed without a message.`);
  }

  async #addText(text: string): Promise<void> {
    const files: File[] = [];
    const told = await this.#textWithoutFiles(text, files);
    this.#parts.push(told, ...files);
  }

  async #addFile(path: string | undefined, base64: string, mediaType: string | undefined): Promise<void> {
    const file = await this.#put(path, new Uint8Array(Buffer.from(base64, 'base64')), mediaType);
    if (file !== undefined) this.#parts.push(file);
  }

  async #textWithoutFiles(text: string, files: File[]): Promise<string> {
    return withoutFiles(text, async ({ bytes, mediaType }) => {
      const file = await this.#put(undefined, bytes, mediaType);
      if (file === undefined) return `[${bytes.length} bytes of ${mediaType}]`;
      files.push(file);
      return `[${bytes.length} bytes of ${file.file.media_type}, shown as a file]`;
    });
  }

  /** Replaces files inside data; blocks of a known kind become files as a whole. */
  async #withoutFiles(data: unknown, depth: number): Promise<unknown> {
    if (typeof data === 'string') {
      const files: File[] = [];
      const told = await this.#textWithoutFiles(data, files);
      this.#parts.push(...files);
      return told;
    }
    if (typeof data !== 'object' || data === null || depth === 0) return data;
    const { type, data: base64, blob, mimeType } = data as Readonly<Record<string, unknown>>;
    const bytes = type === 'image' || type === 'audio' ? base64 : blob;
    if (typeof bytes === 'string' && typeof mimeType === 'string') {
      await this.#addFile(undefined, bytes, mimeType);
      return undefined;
    }
    if (Array.isArray(data)) {
      const items = [];
      for (const item of data) items.push(await this.#withoutFiles(item, depth - 1));
      return items.length > 0 && items.every((item) => item === undefined)
        ? undefined
        : items.map((item) => item ?? null);
    }
    const members: [string, unknown][] = [];
    for (const [name, member] of Object.entries(data)) {
      const told = await this.#withoutFiles(member, depth - 1);
      if (told !== undefined) members.push([name, told]);
    }
    return members.length === 0 && Object.keys(data).length > 0 ? undefined : Object.fromEntries(members);
  }

  /** Stores a file; undefined when the answer shows enough files already. Without a path it is named by its content. */
  async #put(path: string | undefined, bytes: Uint8Array, mediaType: string | undefined): Promise<File | undefined> {
    this.#files += 1;
    if (this.#files > FILES_MAX) return undefined;
    const typed = mediaType === undefined ? {} : { mediaType: startOfText(mediaType, 128) };
    return {
      file: await this.ctx.put({ path: endOfText(path ?? this.#nameOf(bytes, mediaType), 1_024), bytes, ...typed }),
    };
  }

  #nameOf(bytes: Uint8Array, declared: string | undefined): string {
    return `${this.tool}.${endingOf(contentType(bytes.subarray(0, SNIFF_BYTES), declared).mediaType)}`;
  }
}

function endingOf(mediaType: string): string {
  return startOfText(/^[^/]*\/([A-Za-z0-9.-]+)/.exec(mediaType)?.[1] ?? 'bin', 32);
}

/** Data as a part of the answer; data without a canonical form becomes text. */
function dataOf(data: unknown): ToolPart {
  try {
    encode(data as Value);
    return { json: data as Value };
  } catch {
    return JSON.stringify(data);
  }
}
