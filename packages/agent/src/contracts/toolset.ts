/**
 * Toolsets: tools from an outside offerer, which may change at any time. A session stores as content which tools it has
 * taken up from each; the offer is refreshed before a step, as an effect, and a change is a fact.
 */
import { digestHex, failureCode, ref, sessionInfo } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { defineEffect, effectOnUse } from '@reprise/kernel/define';

const count = z.int().min(0);
const digest = digestHex();

/** How many toolsets one agent may list. */
export const TOOLSETS_MAX = 16;

/**
 * The name of a toolset: runs of letters and digits with one `_` or `-` between them. Its tools are called
 * `<toolset>__<tool>`; since no name holds `__`, no two toolsets come to one name.
 */
export const toolsetName = z
  .string()
  .regex(/^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$/)
  .max(24);

/** The policy for a new or changed tool: ask a person, leave it out, or accept it. */
export const DRIFT_POLICIES = ['ask', 'deny', 'accept'] as const;

/** The policy for a new or changed tool. */
export type DriftPolicy = (typeof DRIFT_POLICIES)[number];

/** A toolset as an agent's definition lists it. */
export const toolsetChoice = z.strictObject({
  name: toolsetName,
  /** The policy for tools that changed since they were taken up. */
  on_changed: z.enum(DRIFT_POLICIES),
  /** The policy for tools that did not exist when the session began. */
  on_added: z.enum(DRIFT_POLICIES),
});

/** A toolset as an agent's definition lists it. */
export type ToolsetChoice = z.infer<typeof toolsetChoice>;

/** The accepted state of a toolset: the tools that a model is shown, and the memory of all offered tools. */
const taken = {
  tools_ref: ref(),
  known_ref: ref(),
  /** The bytes of these tools as a model is shown them. */
  tools_bytes: z.exactOptional(count),
} as const;

/** A toolset as a session stores it: an entry of the table `toolsets`, under its name. */
export const knownToolset = z.strictObject({
  /** The digest of the last offer; null before the toolset was reached. */
  version: z.nullable(digest),
  tools_ref: z.nullable(ref()),
  known_ref: z.nullable(ref()),
  reachable: z.boolean(),
  /** The plan that asks a person about withheld tools, and the state after approval or refusal. */
  asked: z.nullable(z.strictObject({ plan: count, approved: z.strictObject(taken), refused_ref: ref() })),
});

/** A toolset as a session stores it. */
export type KnownToolset = z.infer<typeof knownToolset>;

/** `toolset.refresh@1` parameters: the toolsets of a session, with its stored state of each. */
export const toolsetRefreshParams = z.strictObject({
  session: sessionInfo,
  toolsets: z
    .array(
      z.strictObject({
        ...toolsetChoice.shape,
        version: z.nullable(digest),
        tools_ref: z.nullable(ref()),
        known_ref: z.nullable(ref()),
      }),
    )
    .min(1)
    .max(TOOLSETS_MAX),
});

/** The parameters of an effect `toolset.refresh@1`. */
export type ToolsetRefreshParams = z.infer<typeof toolsetRefreshParams>;

/** How many tools are new, removed, changed, and withheld. */
export const toolsetCounts = { added: count, removed: count, changed: count, withheld: count } as const;

/** The refreshed state of one toolset. */
export const toolsetNews = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('unchanged'), toolset: toolsetName }),
  z.strictObject({
    status: z.literal('changed'),
    toolset: toolsetName,
    version: digest,
    ...taken,
    ...toolsetCounts,
    /** `ToolsetDiff` as a value: the new, removed and changed tools. */
    diff_ref: ref(),
    /** The tools that a person has to decide about, and the state after each decision. */
    ask: z.exactOptional(z.strictObject({ approved: z.strictObject(taken), refused_ref: ref() })),
  }),
  z.strictObject({
    status: z.literal('unreachable'),
    toolset: toolsetName,
    code: failureCode,
    /** The reason, as text for operators. */
    why_ref: z.exactOptional(ref()),
  }),
]);

/** The refreshed state of one toolset. */
export type ToolsetNews = z.infer<typeof toolsetNews>;

/** The payload of a receipt of `toolset.refresh@1`. */
export const toolsetRefreshReceipt = z.strictObject({ toolsets: z.array(toolsetNews).max(TOOLSETS_MAX) });

/** The payload of a receipt of `toolset.refresh@1`. */
export type ToolsetRefreshReceipt = z.infer<typeof toolsetRefreshReceipt>;

/** The effect of refreshing the offers of toolsets. A repetition changes nothing outside. */
export const toolsetRefresh = effectOnUse('toolset.refresh@1', () =>
  defineEffect({
    kind: 'toolset.refresh@1',
    params: toolsetRefreshParams,
    receipt: toolsetRefreshReceipt,
    guarantee: 'idempotent',
  }),
);

/** `toolset.adopt@1` parameters: the withheld tools of a toolset that wait for approval. */
export const toolsetAdoptParams = z.strictObject({
  session: sessionInfo,
  toolset: toolsetName,
  version: digest,
  diff_ref: ref(),
});

/** The parameters of an effect `toolset.adopt@1`. */
export type ToolsetAdoptParams = z.infer<typeof toolsetAdoptParams>;

/** The effect of adopting withheld tools. It does nothing outside: it exists so that a person can approve it. */
export const toolsetAdopt = effectOnUse('toolset.adopt@1', () =>
  defineEffect({
    kind: 'toolset.adopt@1',
    params: toolsetAdoptParams,
    receipt: z.strictObject({}),
    guarantee: 'idempotent',
    subject: 'toolset',
  }),
);
