/** Which files and folders the workspace tools pass over, as data. Names are compared in ASCII lower case: disks differ. */
import { asciiLower } from '@reprise/contracts';

/**
 * Names of files that usually hold a secret. They are not listed, searched, read or written: what a tool returns
 * is journaled and sent to a model, and neither forgets.
 */
export const SECRET_NAMES: readonly string[] = Object.freeze([
  '.env*',
  '*.env',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.netrc',
  '_netrc',
  '.git-credentials',
  '.htpasswd',
  '.pgpass',
  '.my.cnf',
  '.dockercfg',
  '.s3cfg',
  'credentials*',
  'id_rsa*',
  'id_dsa*',
  'id_ecdsa*',
  'id_ed25519*',
  '*.pem',
  '*.key',
  '*.ppk',
  '*.p12',
  '*.pfx',
  '*.jks',
  '*.keystore',
  '*.kdbx',
]);

/** Folders whose whole content counts as secret. */
const SECRET_FOLDERS: readonly string[] = ['.ssh', '.aws', '.gnupg', '.kube', '.docker', '.azure'];

/** Files of a repository's own folder that may hold a token, for example inside a remote's address. */
const SECRET_GIT_FILES: readonly string[] = ['config', 'credentials', 'config.worktree'];

/** Templates that are meant to be read: they name the variables and hold no value. */
const NOT_SECRET: readonly string[] = ['.env.example', '.env.sample', '.env.template', '.env.dist'];

/** What a recursive walk does not enter unless it is asked for by name: others' code, and what a build made. */
export const IGNORED_NAMES: readonly string[] = Object.freeze(['node_modules', '.git', '.hg', '.svn']);

/** The temporary files of what writes: a crash can leave one behind. */
export const TEMPORARY_NAMES = '.reprise-*.tmp';

/**
 * Whether a name fits a pattern in which `*` stands for any text.
 *
 * @example fitsPattern('.env.local', '.env*') // true
 */
export function fitsPattern(name: string, pattern: string): boolean {
  const text = asciiLower(name);
  const [first = '', ...rest] = asciiLower(pattern).split('*');
  if (!text.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return text === first;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Whether a name fits any of some patterns. */
export function fitsAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => fitsPattern(name, pattern));
}

/** Whether a path, given as its names from the root, leads to what usually holds a secret. */
export function isSecretPath(names: readonly string[]): boolean {
  if (names.some((name) => fitsAny(name, SECRET_FOLDERS))) return true;
  // Every name counts, not the last alone: a folder called credentials is as good as a file.
  if (names.some((name) => fitsAny(name, SECRET_NAMES) && !fitsAny(name, NOT_SECRET))) return true;
  const git = names.findIndex((name) => asciiLower(name) === '.git');
  return git >= 0 && fitsAny(names.at(-1) ?? '', SECRET_GIT_FILES);
}

/** Whether a path lies in a repository's own folder, where writing a file can mean running a program. */
export function isGitPath(names: readonly string[]): boolean {
  return names.some((name) => asciiLower(name) === '.git');
}
