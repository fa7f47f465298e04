/** Both versions of a changed tool in words, for screens where a person decides. */
import { isFields, present, requireArgument } from '@reprise/contracts';
import type { ToolVersion } from '../../contracts/agent-def.js';

/** The tool of a call that waits, before and after a deployment that changed what the call means. */
export interface ToolChange {
  /** The version that the call was judged by, or was decided on; absent where none was recorded. */
  readonly before?: ToolVersion;
  /** The version of this build. */
  readonly after: ToolVersion;
}

/** What a person compares, and what it is called. */
const COMPARED = {
  description: 'description',
  schema: 'arguments',
  guarantee: 'guarantee',
  approval: 'approval',
  kind: 'kind',
  origin: 'origin',
} as const satisfies Partial<Record<keyof ToolVersion, string>>;

/** One difference between two versions, as texts; `before` is absent where that version was not recorded. */
export interface ToolDifference {
  readonly what: string;
  readonly before?: string;
  readonly after: string;
}

/**
 * The differences between both versions of a tool, in the order in which a person reads them: its words, its arguments,
 * and its terms. Without a recorded version before it is the whole version of this build.
 */
export function toolDifferences(change: ToolChange): readonly ToolDifference[] {
  requireArgument(
    isFields(change) && isFields(change.after),
    'toolDifferences(change)',
    'the changed of a pending item',
    change,
  );
  const { before, after } = change;
  return Object.entries(COMPARED).flatMap(([field, what]) => {
    const [was, is] = [before, after].map((version) => version && textOf(version[field as keyof typeof COMPARED]));
    return is === undefined || was === is ? [] : [present({ what, before: was, after: is })];
  });
}

function textOf(value: ToolVersion[keyof typeof COMPARED]): string | undefined {
  return typeof value === 'string' || value === undefined ? value : JSON.stringify(value);
}
