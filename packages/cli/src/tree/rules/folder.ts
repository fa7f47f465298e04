/** What the tools found in a folder: read from their results, as they stand in the conversation. */
import { parseJson } from '@reprise/contracts/json';
import type { Called } from './reading.js';

/** A file of a listing. */
export interface FoundFile {
  readonly path: string;
  readonly bytes: number;
}

/** A line that a search found. */
interface FoundLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** The contents of a folder, as far as they were looked at. */
export interface Folder {
  readonly files: readonly FoundFile[];
  readonly folders: readonly string[];
  /** The entries that were found, also those that are not listed. */
  readonly entries: number;
  readonly listed: boolean;
  /** The beginnings of files, by path. */
  readonly texts: ReadonlyMap<string, string>;
  /** The lines that were found, by pattern. */
  readonly lines: ReadonlyMap<string, readonly FoundLine[]>;
}

const ENTRY = /^(file|dir) (\d+|-) \S+Z (.+)$/gm;
const LINE = /^("(?:[^"\\]|\\.)*"|[^\s:]+):(\d+): (.*)$/gm;

/** Reads the results of `list_files`, `read_file` and `grep`. */
export function folderIn(calls: readonly Called[]): Folder {
  const [files, folders] = [new Map<string, FoundFile>(), new Set<string>()];
  const [texts, lines] = [new Map<string, string>(), new Map<string, readonly FoundLine[]>()];
  let [entries, listed] = [0, false];
  for (const { tool, args, text, isError } of calls) {
    if (isError) continue;
    if (tool === 'list_files') {
      listed = true;
      entries += Number(/\((?:at least )?(\d+) entr/.exec(text)?.[1] ?? 0);
      for (const [, type, bytes, shown = ''] of text.matchAll(ENTRY)) {
        if (type === 'dir') folders.add(unquoted(shown));
        else files.set(unquoted(shown), { path: unquoted(shown), bytes: Number(bytes) });
      }
    }
    const begins = text.indexOf('\n');
    if (tool === 'read_file' && begins >= 0) texts.set(String(args.path), text.slice(begins + 1));
    if (tool === 'grep')
      lines.set(
        String(args.pattern),
        [...text.matchAll(LINE)].map(([, path = '', line, found = '']) => ({
          path: unquoted(path),
          line: Number(line),
          text: found,
        })),
      );
  }
  return { files: [...files.values()], folders: [...folders], entries, listed, texts, lines };
}

/** Tools write unusual names as JSON. */
function unquoted(shown: string): string {
  if (!shown.startsWith('"')) return shown;
  try {
    return String(parseJson(shown));
  } catch {
    return shown;
  }
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The ending of a file's name, or the whole name. */
export function kindOf(path: string): string {
  const name = nameOf(path);
  const at = name.lastIndexOf('.');
  return at <= 0 ? name : name.slice(at + 1);
}
