/** Optional packages that are not installed: what only some programs need is loaded at its first use. */
import { RepriseError } from './errors.js';

/** What is needed, and for what. */
interface NeededPackage {
  /** What needs it, as the beginning of a sentence: `MCP servers`. */
  readonly what: string;
  /** The name of the package. */
  readonly name: string;
  /** Whether it is needed for development only. */
  readonly dev?: true;
}

/**
 * The error for a package that could not be loaded: `runtime_unsupported` with what to install where it is missing, else the
 * error itself.
 */
export function missingPackage(cause: unknown, { what, name, dev }: NeededPackage): unknown {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  if (!isMissing || !String(message).includes(name)) return cause;
  return new RepriseError('runtime_unsupported', `${what} need a package that is not installed: ${name}`, {
    expected: name,
    hint: `npm install ${dev === true ? '--save-dev ' : ''}${name}`,
    cause,
  });
}
