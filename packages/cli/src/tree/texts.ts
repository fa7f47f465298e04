/** The texts behind the links of a tree's facts: results, prompts and questions. */
import { readLlmOutput, readText } from '@reprise/agent';
import { isRef, isRepriseError, type Ref } from '@reprise/contracts';
import { type ContentReader, getValue } from '@reprise/kernel';
import type { Given, TreeView } from '@reprise/tree';
import { toJson } from '../text/json.js';

/** How much of a text is remembered for pictures. */
const KEPT_UNITS = 2_000;

/** Reads content of a world, and remembers its beginnings for pictures, which are drawn at once. */
export class Texts {
  readonly #kept = new Map<string, string>();

  constructor(private readonly content: ContentReader) {}

  /** The beginning of a content that was read before. */
  readonly get = (of: Given | Ref): string | undefined => this.#kept.get(refOf(of).hex);

  /** Reads the results and answers of a tree that were not read before. */
  async load(tree: TreeView): Promise<void> {
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

function refOf(of: Given | Ref): Ref {
  return isRef(of) ? of : of.ref;
}
