import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's top folder. */
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** The folder the user was in when npm was called: what relative arguments are relative to. */
export const CALLER = process.env.INIT_CWD ?? process.cwd();
