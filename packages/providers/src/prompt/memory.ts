/**
 * What an open world's model calls have read of their conversations before: nodes of transcripts, the drafts of
 * items, lists of tools, and instructions. A conversation is sent whole at each call, and nearly all of it was sent before.
 *
 * Owns: what is kept, for how long, and how much of it. Does not own: what a draft says (`assemble-prompt.ts`), what is
 * derived from drafts (`steady.ts`; it goes when they go).
 *
 * Invariants
 * K1  Everything is found by its content: a node, a list of tools or a text by its digest, an item as an equal value, drafts by
 *     their item and all that the drafts of an item depend on. So a different history, another model or other options find
 *     nothing wrong.
 * K2  Only what was read whole is kept: content that is gone is looked for again at each call.
 * K3  Nothing outlives an erasure: a memory is dropped when its world has erased content since.
 * K4  A memory holds at most {@link PROMPT_MEMORY_BYTES}; what was not used for the longest time goes first.
 */
import type { TranscriptItem } from '@reprise/agent';
import type { Ref, Value } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { decode, equalValues } from '@reprise/kernel/codec';
import { getBytes } from '@reprise/kernel/store';
import type { UnifiedTool } from '../model/model.js';
import { steady } from '../model/steady.js';
import { PROMPT_MEMORY_BYTES } from './bounds.js';
import type { Draft } from './lay-out.js';
import { TwoGenerations } from './two-generations.js';

/** The drafts of an item, and the classes of parts that they leave out. */
export interface ItemDrafts {
  readonly drafts: readonly Draft[];
  readonly losses: readonly string[];
}

/** What is kept of an item. */
interface KeptItem {
  readonly key: string;
  readonly item: TranscriptItem;
  readonly drafts: Map<string, ItemDrafts>;
}

/** How many bytes an entry counts beside its texts: objects, keys, and positions in maps. */
const ENTRY_BYTES = 1_000;

/** How often a text is in memory: as a draft, and in the bytes of a request. */
const COPIES = 3;

/** The memory of one open world. */
export class PromptMemory {
  readonly #nodes: TwoGenerations<Value>;
  readonly #items: TwoGenerations<KeptItem>;
  readonly #tools: TwoGenerations<readonly UnifiedTool[]>;
  readonly #texts: TwoGenerations<string>;
  readonly #known = new WeakMap<object, KeptItem>();

  constructor(bytesMax = PROMPT_MEMORY_BYTES) {
    this.#nodes = new TwoGenerations(bytesMax / 8);
    this.#tools = new TwoGenerations(bytesMax / 8);
    this.#texts = new TwoGenerations(bytesMax / 8);
    this.#items = new TwoGenerations((bytesMax * 5) / 8);
  }

  /** A node of a transcript's log, at once if it is kept. Equal items of all nodes are the same object. */
  node(content: ContentReader, ref: Ref): Value | Promise<Value> {
    return this.#nodes.get(ref.hex) ?? this.#readNode(content, ref);
  }

  async #readNode(content: ContentReader, ref: Ref): Promise<Value> {
    const bytes = await getBytes(content, ref);
    const value = this.#withKnownItems(decode(bytes));
    this.#nodes.set(ref.hex, value, bytes.length + ENTRY_BYTES);
    return value;
  }

  /** A text that stands in one request after the other, such as the instructions of an agent, if it is kept. */
  text(ref: Ref): string | undefined {
    return this.#texts.get(ref.hex);
  }

  keepText(ref: Ref, text: string): void {
    this.#texts.set(ref.hex, text, ENTRY_BYTES + COPIES * text.length);
  }

  /** A list of tools, at once if it is kept. */
  tools(
    ref: Ref,
    read: () => Promise<readonly UnifiedTool[]>,
  ): readonly UnifiedTool[] | Promise<readonly UnifiedTool[]> {
    return this.#tools.get(ref.hex) ?? this.#readTools(ref, read);
  }

  async #readTools(ref: Ref, read: () => Promise<readonly UnifiedTool[]>): Promise<readonly UnifiedTool[]> {
    const list = (await read()).map(steady); // what writes one request cannot change the tools of the next
    this.#tools.set(ref.hex, list, ENTRY_BYTES + COPIES * unitsIn(list));
    return list;
  }

  /** The drafts of an item of a node, if they are kept. */
  drafts(item: TranscriptItem, key: string): ItemDrafts | undefined {
    const known = this.#known.get(item);
    return known === undefined ? undefined : this.#items.get(known.key)?.drafts.get(key);
  }

  /** Keeps the drafts of an item of a node. */
  keep(item: TranscriptItem, key: string, drafts: ItemDrafts): void {
    const known = this.#known.get(item);
    if (known === undefined) return;
    if (this.#items.get(known.key) === undefined) this.#items.set(known.key, known, ENTRY_BYTES);
    known.drafts.set(key, drafts);
    this.#items.grow(known.key, ENTRY_BYTES + COPIES * unitsIn(drafts));
  }

  /** A chunk, or a head with its tail, with items that are known. */
  #withKnownItems(node: Value): Value {
    const known = (list: readonly Value[]) => list.map((item) => this.#item(item));
    if (Array.isArray(node)) return known(node);
    if (typeof node !== 'object' || node === null || !('tail' in node) || !Array.isArray(node.tail)) return node;
    return { ...node, tail: known(node.tail) };
  }

  #item(item: Value): Value {
    // A node above chunks holds links.
    if (typeof item !== 'object' || item === null || !('role' in item)) return item;
    const key = JSON.stringify(item);
    const known = this.#items.get(key);
    if (known !== undefined) {
      const same = known.item as unknown as Value;
      return equalValues(same, item) ? same : item; // a text can read like the link that another item has (K1)
    }
    const made = { key, item: item as unknown as TranscriptItem, drafts: new Map() };
    this.#known.set(item, made);
    this.#items.set(key, made, ENTRY_BYTES + key.length);
    return item;
  }
}

/** The memories of the worlds that one adapter serves. */
export class PromptMemories {
  readonly #memories = new WeakMap<object, { readonly erasedThrough: number; readonly memory: PromptMemory }>();

  /** The memory of a world, as long as nothing was erased (K3). */
  async of(scope: object, content: ContentReader): Promise<PromptMemory> {
    const erasedThrough = await content.erasedThrough();
    const known = this.#memories.get(scope);
    if (known?.erasedThrough === erasedThrough) return known.memory;
    const memory = new PromptMemory();
    this.#memories.set(scope, { erasedThrough, memory });
    return memory;
  }
}

/** The characters in all texts of a thing. */
function unitsIn(thing: unknown): number {
  if (typeof thing === 'string') return thing.length;
  if (typeof thing !== 'object' || thing === null) return 8;
  return Object.entries(thing).reduce((sum, [key, part]) => sum + key.length + unitsIn(part), 16);
}
