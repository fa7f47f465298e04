/** A toolset whose offer is in the hands of a test. */
import { type ContentStore, putValue } from '@reprise/kernel';
import * as z from 'zod';
import {
  type DriftPolicy,
  defineTool,
  type LiveToolset,
  type ToolEntry,
  type Toolset,
  toolEntryOf,
} from '../../src/index.js';

/** A tool as it is offered: its name and what is said of it. */
export interface Offered {
  readonly name: string;
  readonly says?: string;
  readonly guarantee?: ToolEntry['guarantee'];
  /** The JSON Schema of its arguments. */
  readonly schema?: ToolEntry['schema'];
}

/** What is offered, and what came of it. */
export class Offering {
  /** Why it cannot be reached. */
  down: string | undefined;
  /** How often it was asked what it offers. */
  asked = 0;
  /** The calls that reached it: the tool, and what was said of it when it was judged. */
  readonly calls: string[] = [];
  opened = 0;
  closed = 0;
  /** Looking at it waits for this. */
  before: Promise<unknown> = Promise.resolve();
  /** What a call does besides. */
  during: () => Promise<unknown> = async () => undefined;

  constructor(public tools: readonly Offered[]) {}

  /** As a toolset of an agent. */
  toolset(policy: { readonly onChanged?: DriftPolicy; readonly onAdded?: DriftPolicy } = {}, name = 'far'): Toolset {
    const { onChanged = 'ask', onAdded = 'accept' } = policy;
    const open: Toolset['open'] = ({ closing }) => {
      this.opened++;
      closing.addEventListener('abort', () => this.closed++);
      return this.#live(name);
    };
    return { type: 'toolset', name, onChanged, onAdded, open };
  }

  #live(toolset: string): LiveToolset {
    return {
      list: async ({ content, signal }) => {
        this.asked++;
        await Promise.race([this.before, new Promise((stop) => signal.addEventListener('abort', stop))]);
        if (this.down !== undefined) throw new Error(this.down);
        return Promise.all(this.tools.map((tool) => entryOf(toolset, tool, content)));
      },
      tool: (entry) => ({
        ...defineTool({
          name: entry.name,
          description: entry.description,
          args: z.strictObject({}),
          run: async () => {
            this.calls.push(`${entry.name}: ${entry.description}`);
            await this.during();
            return 'done';
          },
        }),
        entry,
      }),
    };
  }
}

async function entryOf(toolset: string, offered: Offered, content: ContentStore) {
  const { name, says = 'as ever', guarantee, schema = { type: 'object' } } = offered;
  const descriptor_ref = await putValue(content, { name, description: says });
  return toolEntryOf({
    name: `${toolset}__${name}`,
    description: says,
    schema,
    kind: 'tool',
    guarantee: guarantee ?? 'at_most_once',
    family: 'default',
    parallel: true,
    polling: false,
    on_unknown: 'tell_model',
    origin: {
      toolset,
      tool: name,
      descriptor_ref,
      hints: { read_only: false, destructive: false, idempotent: false, open_world: false },
    },
  });
}
