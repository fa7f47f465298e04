/** The texts behind the links of a tree's facts: results, prompts and questions. */
import { readLlmOutput, readText } from '@reprise/agent';
import { failureCode, isRef, isRepriseError, type JournalRecord, nextStep, type Ref } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { getValue } from '@reprise/kernel/store';
import type { Given, NodeView, TreeView } from '@reprise/tree';
import { Failures } from '../process/failures.js';
import { toJson } from '../text/json.js';

/** How much of a text is remembered for pictures. */
const KEPT_UNITS = 2_000;

/** Reads content of a world, and remembers its beginnings for pictures, which are drawn at once. */
export class Texts {
  readonly #kept = new Map<string, string>();
  /** Why nodes failed, by session and code. */
  readonly #words = new Map<string, string>();
  /** Why sessions failed: the reader of the world's frames adds their records. */
  readonly failures: Failures;

  constructor(private readonly content: ContentReader) {
    this.failures = new Failures(content);
  }

  /** Adds the records of a frame: why sessions failed. */
  readonly hear = (records: readonly JournalRecord[]): void => this.failures.add(records);

  /** The beginning of a content that was read before. */
  readonly get = (of: Given | Ref): string | undefined => this.#kept.get(refOf(of).hex);

  /** Why a node failed, in the words of the provider, when they were read before. */
  readonly failureOf = (node: NodeView): string | undefined => this.#words.get(keyOf(node));

  /** Why a node failed: what its code means, with the words of the provider and what to do, where there are some. */
  async failure(node: NodeView): Promise<string | undefined> {
    const { session, code, status } = node;
    if (code === null || status !== 'failed' || !isFailureCode(code)) return undefined;
    const words = await this.failures.wordsOf(session, code);
    this.#words.set(keyOf(node), words);
    return words;
  }

  /** Reads the results and answers of a tree that were not read before, and why nodes failed. */
  async load(tree: TreeView): Promise<void> {
    for (const node of tree.nodes.values()) await this.failure(node);
    for (const { result } of tree.nodes.values()) if (result !== null) await this.#keep(result);
    for (const { outcome } of tree.asks.values()) if (outcome?.text_ref != null) await this.#keep(outcome.text_ref);
  }

  /** The whole text of a content; a note when it was erased. A link is read as text. */
  async whole(of: Given | Ref): Promise<string> {
    try {
      return await this.#read(of);
    } catch (error) {
      if (isRepriseError(error, 'blob_erased')) return '[This content was erased.]';
      throw error;
    }
  }

  async #keep(of: Given | Ref): Promise<void> {
    const { hex } = refOf(of);
    if (!this.#kept.has(hex)) this.#kept.set(hex, (await this.whole(of)).slice(0, KEPT_UNITS));
  }

  async #read(of: Given | Ref): Promise<string> {
    if (isRef(of)) return readText(this.content, of);
    if (of.kind === 'text') return readText(this.content, of.ref);
    if (of.kind === 'llm_output') return (await readLlmOutput(this.content, of.ref)).text ?? '';
    const value = await getValue(this.content, of.ref);
    return typeof value === 'string' ? value : toJson(value);
  }
}

function keyOf({ session, code }: NodeView): string {
  return `${code} ${session}`;
}

/** Whether a code is that of a receipt: of a call that a provider or an adapter failed. */
function isFailureCode(code: string): boolean {
  return failureCode.safeParse(code).success && nextStep(code) !== undefined;
}

function refOf(of: Given | Ref): Ref {
  return isRef(of) ? of : of.ref;
}
