/** The output policies of tools by family: which part of an output matters depends on the kind of tool. */
import { RepriseError } from '@reprise/contracts';
import type { OutputPolicy } from './bound-output.js';

/** The family of a tool that names none. */
export const DEFAULT_FAMILY = 'default';

const KIB = 1024;

/**
 * The bounds of one output for a model, by family. 16 KiB are about 4,000 tokens: twenty such results fit a small
 * window. Files and pages are read from their beginning, logs end with the error, and of an edit only the gist counts.
 */
export const FAMILY_POLICIES: Readonly<Record<string, OutputPolicy>> = Object.freeze({
  [DEFAULT_FAMILY]: policy('model/default@1', 16 * KIB, 'head_tail'),
  file: policy('model/file@1', 32 * KIB, 'head_tail'),
  search: policy('model/search@1', 16 * KIB, 'head', 500),
  edit: policy('model/edit@1', 4 * KIB, 'head_tail', 100),
  process: policy('model/process@1', 16 * KIB, 'head_tail', 400),
  http: policy('model/http@1', 16 * KIB, 'head'),
  external: policy('model/external@1', 32 * KIB, 'head_tail'),
  mcp: policy('model/mcp@1', 16 * KIB, 'head_tail'),
  introspect: policy('model/introspect@1', 16 * KIB, 'head'),
});

function policy(
  policyId: string,
  bytesMax: number,
  keep: OutputPolicy['keep'],
  linesMax?: number,
): Readonly<OutputPolicy> {
  return Object.freeze({ policyId, bytesMax, keep, ...(linesMax === undefined ? {} : { linesMax }) });
}

/** Output policies by family, over {@link FAMILY_POLICIES}. */
export type OutputPolicies = Readonly<Record<string, OutputPolicy>>;

/** The smallest bounds: below them the marker and the output do not both fit. */
const BYTES_MIN = 256;
const LINES_MIN = 3;

/**
 * Merges the given policies with the default ones.
 *
 * @throws RepriseError `invalid_argument` when a policy has no room for its own marker
 */
export function policiesOf(own: OutputPolicies = {}): (family: string) => OutputPolicy {
  for (const [family, given] of Object.entries(own)) assertPolicy(family, given);
  const all: OutputPolicies = { ...FAMILY_POLICIES, ...own };
  const fallback = all[DEFAULT_FAMILY] as OutputPolicy; // FAMILY_POLICIES has a default
  return (family) => (Object.hasOwn(all, family) ? (all[family] ?? fallback) : fallback);
}

function assertPolicy(family: string, { policyId, bytesMax, linesMax = LINES_MIN, keep }: OutputPolicy): void {
  const fits =
    typeof policyId === 'string' &&
    /^.{1,64}$/.test(policyId) &&
    Number.isSafeInteger(bytesMax) &&
    bytesMax >= BYTES_MIN &&
    Number.isSafeInteger(linesMax) &&
    linesMax >= LINES_MIN &&
    ['head', 'tail', 'head_tail'].includes(keep);
  if (fits) return;
  throw new RepriseError('invalid_argument', 'invalid output policy', {
    where: `outputs.${family}`,
    expected: `{ policyId, bytesMax ≥ ${BYTES_MIN}, linesMax? ≥ ${LINES_MIN}, keep: head | tail | head_tail }`,
    actual: { policyId, bytesMax, linesMax, keep },
  });
}
