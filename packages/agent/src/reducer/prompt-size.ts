/**
 * How large the next prompt is: an estimate from the sizes that were recorded, since no reducer reads content.
 *
 * Invariants
 * P1  The estimate is what the last call reported and, on top, everything that the model has not been shown since: inputs,
 *     steers that wait, tool results, and by how much instructions and tools have grown. Before the first report it is
 *     all of that together.
 * P2  What was recorded without a size counts nothing, so a world that was recorded before sizes were goes on as it did.
 */
import type { InputPart } from '@reprise/contracts';
import type { AgentConfig } from '../contracts/config.js';
import type { CurrentRun, SessionState } from '../contracts/state.js';
import type { Artifact } from '../contracts/tool-call.js';

/**
 * Bytes of text in one token. English prose has four to five, code and JSON three to four, other scripts about three: four
 * is near to all of them, and is also how the window is measured where a provider reports no tokens. An estimate that was
 * always above would refuse calls that fit; what a call uses beyond it counts when it is reported.
 */
export const BYTES_PER_TOKEN = 4;

/** What an image or a document counts at most, in bytes of text: some 1,600 tokens, as providers count a large image. */
export const MEDIA_BYTES = 6_400;

/** What a model is told at most of content in full, as a summary, and of one child: as the projection cuts it. */
const FULL_BYTES = 1_000_000;
const SUMMARY_BYTES = 2_000;
const CHILD_BYTES = 8_000;

/** The tokens in so many bytes, rounded up. */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Counts bytes that the model has not been shown yet. */
export function countUnread({ window }: SessionState, bytes: number | undefined): void {
  if (bytes !== undefined) window.unread = (window.unread ?? 0) + bytes;
}

/** Counts bytes of which nobody stated the size, where sizes are stated at all (P2). */
export function countEstimate(draft: SessionState, bytes: number): void {
  if (bytes > 0 && isSized(draft.window, draft.run?.config ?? draft.config)) countUnread(draft, bytes);
}

/** The model has been shown what there was: its report includes it. */
export function countRead({ window, run }: SessionState): void {
  if (run === null || !isSized(window, run.config)) return;
  window.unread = 0;
  window.read_definition = definitionBytes(run.config);
}

/** What a model is told of the parts of an input, in bytes; undefined when nobody stated the size of any. */
export function bytesOfParts(parts: readonly InputPart[]): number | undefined {
  const sizes = parts.map(shownBytes).filter((bytes) => bytes !== undefined);
  return sizes.length === 0 ? undefined : sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** What a model is told of a child's last answer, in bytes: no more than the child said in all. */
export function bytesOfChild(tokens_out: number): number {
  return Math.min(CHILD_BYTES, tokens_out * BYTES_PER_TOKEN);
}

/** What a model is told of files that a tool made, in bytes: it is shown images and documents. */
export function bytesOfFiles(files: readonly Artifact[]): number {
  const shown = files.filter(({ media_type }) => !isReadable(media_type));
  return shown.reduce((sum, { bytes }) => sum + Math.min(bytes, MEDIA_BYTES), 0);
}

/** The tokens of the next prompt (P1). */
export function promptEstimate({ window, steers }: SessionState, { config }: Pick<CurrentRun, 'config'>): number {
  const { reading, unread = 0, read_definition = 0 } = window;
  // Without any size (P2) only what a provider reported is an estimate.
  if (!isSized(window, config)) return reading?.by === 'usage' ? Math.max(1, reading.tokens) : 1;
  const said = steers.reduce((sum, { parts }) => sum + (bytesOfParts(parts) ?? 0), 0);
  const known = reading === null ? 0 : read_definition;
  const grown = Math.max(0, definitionBytes(config) - known);
  return Math.max(1, (reading?.tokens ?? 0) + tokensIn(unread + said + grown));
}

function isSized({ unread }: SessionState['window'], { system_bytes, tools_bytes }: AgentConfig): boolean {
  return unread !== undefined || system_bytes !== undefined || tools_bytes !== undefined;
}

function definitionBytes({ system_bytes = 0, tools_bytes = 0 }: AgentConfig): number {
  return system_bytes + tools_bytes;
}

function shownBytes(part: InputPart): number | undefined {
  if (part.bytes === undefined || part.kind === 'text') return part.bytes;
  if (part.kind === 'blob' && !isReadable(part.media_type)) return Math.min(part.bytes, MEDIA_BYTES);
  const { view } = part;
  const most = view === 'full' ? FULL_BYTES : view === 'summary' ? SUMMARY_BYTES : view.head;
  return Math.min(part.bytes, most);
}

/** Whether content of this type is told as text. */
function isReadable(media_type: string): boolean {
  const lower = media_type.replace(/[A-Z]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 32));
  return /^text\/|[/+](json|xml|yaml|toml|javascript|typescript|x-sh|sql|graphql) *(;|$)/.test(lower);
}
