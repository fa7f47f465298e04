/**
 * The size of the next prompt: an estimate from recorded sizes, since a reducer cannot read content.
 *
 * Invariants
 * P1  The estimate is the usage that the last call reported, plus everything that the model has not been shown since:
 *     inputs, waiting steers, tool results, and the growth of instructions and tools. Before the first report it is the
 *     sum of all of these.
 * P2  Content without a recorded size counts as zero, so a world that was recorded before sizes existed continues
 *     unchanged.
 */
import type { InputPart } from '@reprise/contracts';
import type { AgentConfig } from '../../contracts/config.js';
import type { CurrentRun, SessionState } from '../../contracts/state.js';
import type { Artifact } from '../../contracts/tool-call.js';

/**
 * Bytes of text in one token. English prose has four to five, code and JSON three to four, other scripts about three:
 * four is near to all of them, and is also the measure of the window where a provider reports no tokens. An estimate
 * that is always too high would refuse calls that fit; excess usage counts when it is reported.
 */
const BYTES_PER_TOKEN = 4;

/**
 * The largest size that an image or a document counts, in bytes of text: about 1,600 tokens, which is what providers
 * count for a large image.
 */
const MEDIA_BYTES = 6_400;

/**
 * The largest sizes that a model is shown of content in full, of a summary, and of one child: the bounds of the prompt
 * assembly.
 */
const FULL_BYTES = 1_000_000;
const SUMMARY_BYTES = 2_000;
const CHILD_BYTES = 8_000;

/** The tokens in a number of bytes, rounded up. */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Adds bytes that the model has not been shown yet. */
export function countUnread({ window }: SessionState, bytes: number | undefined): void {
  if (bytes !== undefined) window.unread = (window.unread ?? 0) + bytes;
}

/** Adds bytes without a stated size, in a session that states sizes (P2). */
export function countEstimate(draft: SessionState, bytes: number): void {
  if (bytes > 0 && isSized(draft.window, draft.run?.config ?? draft.config)) countUnread(draft, bytes);
}

/** The model has been shown everything so far: its report includes all of it. */
export function countRead({ window, run }: SessionState): void {
  if (run === null || !isSized(window, run.config)) return;
  window.unread = 0;
  window.read_definition = definitionBytes(run.config);
}

/** The bytes that a model is shown of an input's parts; undefined when no size is stated. */
export function bytesOfParts(parts: readonly InputPart[]): number | undefined {
  const sizes = parts.map(shownBytes).filter((bytes) => bytes !== undefined);
  return sizes.length === 0 ? undefined : sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** The bytes that a model is shown of a child's last answer: at most the answer's own size. */
export function bytesOfChild(tokens_out: number): number {
  return Math.min(CHILD_BYTES, tokens_out * BYTES_PER_TOKEN);
}

/** The bytes that a model is shown of files that a tool made: images and documents. */
export function bytesOfFiles(files: readonly Artifact[]): number {
  const shown = files.filter(({ media_type }) => !isReadable(media_type));
  return shown.reduce((sum, { bytes }) => sum + Math.min(bytes, MEDIA_BYTES), 0);
}

/** The tokens of the next prompt (P1). */
export function promptEstimate({ window, steers }: SessionState, { config }: Pick<CurrentRun, 'config'>): number {
  const { reading, unread = 0, read_definition = 0 } = window;
  // Without recorded sizes (P2) only the provider's report is an estimate.
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

/** Whether a model is shown content of this type as text. */
function isReadable(media_type: string): boolean {
  const lower = media_type.replace(/[A-Z]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 32));
  return /^text\/|[/+](json|xml|yaml|toml|javascript|typescript|x-sh|sql|graphql) *(;|$)/.test(lower);
}
