/** The name under which a model sees a tool of an MCP server: unique, and valid for every provider. */
import { portableSha256, toHex } from '@reprise/kernel';

/** The longest name that every provider accepts. */
const NAME_LENGTH_MAX = 64;
const DIGEST_LENGTH = 8;

/**
 * The name of a tool: `<toolset>__<tool>`. A name that a provider would refuse is shortened and gets a digest of the
 * tool's name at the server, so the result depends on the two names alone.
 *
 * @example wireName('files', 'read_file') // 'files__read_file'
 */
export function wireName(toolset: string, tool: string): string {
  const room = NAME_LENGTH_MAX - toolset.length - 2;
  const plain = tool.replace(/[^A-Za-z0-9_-]/g, '_');
  if (plain === tool && tool !== '' && tool.length <= room) return `${toolset}__${tool}`;
  const digest = toHex(portableSha256(new TextEncoder().encode(tool))).slice(0, DIGEST_LENGTH);
  return `${toolset}__${plain.slice(0, room - DIGEST_LENGTH - 1)}_${digest}`;
}

/** Whether a name matches one of the patterns, in which `*` stands for any text. */
export function isAllowed(tool: string, patterns: readonly string[] | undefined): boolean {
  return patterns?.some((pattern) => matches(tool, pattern)) ?? true;
}

function matches(tool: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return tool === pattern;
  if (!tool.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = tool.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return tool.length - last.length >= at && tool.endsWith(last);
}
