/**
 * Toolsets: tools that somebody else offers, and that may be others tomorrow. A session holds what it has taken up of
 * each, as content; what is offered is looked at before a step, as an effect, and what has changed is a fact.
 */
import { failureCode, ref, sessionInfo } from '@reprise/contracts';
import { defineEffect } from '@reprise/kernel/define';
import * as z from 'zod';

const count = z.int().min(0);
const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** The toolsets that one agent may list. */
export const TOOLSETS_MAX = 16;

/**
 * The name of a toolset: runs of letters and digits with one `_` or `-` between them. Its tools are called
 * `<toolset>__<tool>`; since no name holds `__`, no two toolsets come to one name.
 */
export const toolsetName = z
  .string()
  .regex(/^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$/)
  .max(24);

/** What becomes of a tool that is not the one a session took up: a person is asked, it is left out, or it counts. */
export const DRIFT_POLICIES = ['ask', 'deny', 'accept'] as const;

/** What becomes of a tool that is not the one a session took up. */
export type DriftPolicy = (typeof DRIFT_POLICIES)[number];

/** A toolset as an agent's definition lists it. */
export const toolsetChoice = z.strictObject({
  name: toolsetName,
  /** Of tools that were taken up and are described otherwise now. */
  on_changed: z.enum(DRIFT_POLICIES),
  /** Of tools that were not there when the session began. */
  on_added: z.enum(DRIFT_POLICIES),
});

/** A toolset as an agent's definition lists it. */
export type ToolsetChoice = z.infer<typeof toolsetChoice>;

/** What counts of a toolset: the tools that a model is told of, and what is remembered of all that were offered. */
const taken = {
  tools_ref: ref(),
  known_ref: ref(),
  /** The bytes of these tools, as a model is told of them. */
  tools_bytes: z.exactOptional(count),
} as const;

/** A toolset as a session holds it: an entry of the table `toolsets`, under its name. */
export const knownToolset = z.strictObject({
  /** Of all that was offered when it was last looked at; null before it was reached. */
  version: z.nullable(digest),
  tools_ref: z.nullable(ref()),
  known_ref: z.nullable(ref()),
  reachable: z.boolean(),
  /** The plan that asks a person about what is held back, and what counts when they say yes, or no. */
  asked: z.nullable(z.strictObject({ plan: count, approved: z.strictObject(taken), refused_ref: ref() })),
});

/** A toolset as a session holds it. */
export type KnownToolset = z.infer<typeof knownToolset>;

/** `toolset.refresh@1` parameters: the toolsets of a session, with what it holds of each. */
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

/** `toolset.refresh@1` parameters. */
export type ToolsetRefreshParams = z.infer<typeof toolsetRefreshParams>;

/** How many tools are new, gone, described otherwise, and held back. */
export const toolsetCounts = { added: count, removed: count, changed: count, withheld: count } as const;

/** What was found of one toolset. */
export const toolsetNews = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('unchanged'), toolset: toolsetName }),
  z.strictObject({
    status: z.literal('changed'),
    toolset: toolsetName,
    version: digest,
    ...taken,
    ...toolsetCounts,
    /** `ToolsetDiff` as a value: what is new, gone, and described otherwise. */
    diff_ref: ref(),
    /** What a person has to decide about, and what counts then. */
    ask: z.exactOptional(z.strictObject({ approved: z.strictObject(taken), refused_ref: ref() })),
  }),
  z.strictObject({
    status: z.literal('unreachable'),
    toolset: toolsetName,
    code: failureCode,
    /** Why, as text for operators. */
    why_ref: z.exactOptional(ref()),
  }),
]);

/** What was found of one toolset. */
export type ToolsetNews = z.infer<typeof toolsetNews>;

/** `toolset.refresh@1` receipt payload. */
export const toolsetRefreshReceipt = z.strictObject({ toolsets: z.array(toolsetNews).max(TOOLSETS_MAX) });

/** `toolset.refresh@1` receipt payload. */
export type ToolsetRefreshReceipt = z.infer<typeof toolsetRefreshReceipt>;

/** The effect of looking at what toolsets offer. Looking again changes nothing outside. */
export const toolsetRefresh = defineEffect({
  kind: 'toolset.refresh@1',
  params: toolsetRefreshParams,
  receipt: toolsetRefreshReceipt,
  guarantee: 'idempotent',
});

/** `toolset.adopt@1` parameters: what is held back of a toolset until somebody approves it. */
export const toolsetAdoptParams = z.strictObject({
  session: sessionInfo,
  toolset: toolsetName,
  version: digest,
  diff_ref: ref(),
});

/** `toolset.adopt@1` parameters. */
export type ToolsetAdoptParams = z.infer<typeof toolsetAdoptParams>;

/** The effect of taking up what is held back of a toolset: nothing happens outside, so that somebody may decide about it. */
export const toolsetAdopt = defineEffect({
  kind: 'toolset.adopt@1',
  params: toolsetAdoptParams,
  receipt: z.strictObject({}),
  guarantee: 'idempotent',
  subject: 'toolset',
});
