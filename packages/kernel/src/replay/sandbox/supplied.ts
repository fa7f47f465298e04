/** The modules behind the imports of pure code in a sandbox. */
import * as contracts from '@reprise/contracts';
import * as zod from 'zod';
import * as authority from '../../pure/authority/index.js';
import * as codec from '../../pure/codec/index.js';
import * as define from '../../pure/define/index.js';
import type { SuppliedModule } from './supplied-names.js';

/** The pure part of the kernel's main entry; the rest of it must not be reachable where pure code replays. */
const kernel = {
  ...define,
  compareBytes: codec.compareBytes,
  decode: codec.decode,
  encode: codec.encode,
  equalBytes: codec.equalBytes,
  FRAME_DEPTH_MAX: codec.FRAME_DEPTH_MAX,
  fromHex: codec.fromHex,
  isRepriseError: contracts.isRepriseError,
  linksOf: codec.linksOf,
  NOTICES: contracts.NOTICES,
  portableSha256: codec.portableSha256,
  Ref: contracts.Ref,
  RepriseError: contracts.RepriseError,
  ref: contracts.ref,
  toHex: codec.toHex,
  VALUE_DEPTH_MAX: codec.VALUE_DEPTH_MAX,
  value: contracts.value,
};

const OURS: Readonly<Record<Exclude<SuppliedModule, 'zod'>, Readonly<Record<string, unknown>>>> = {
  '@reprise/contracts': contracts,
  '@reprise/kernel': kernel,
  '@reprise/kernel/authority': authority,
  '@reprise/kernel/define': define,
};

/**
 * The modules of a sandbox, by name. Call it only where they are supplied: our own modules are frozen in place, so
 * that no code can change them for the engine. zod completes its classes as they are used, and the engine checks without it.
 *
 * @returns throws Error for an unknown module name
 */
export function giveModules(): (name: unknown) => object {
  for (const module of Object.values(OURS)) freezeFunctions(module);
  const given = new Map(Object.entries({ ...OURS, zod }).map(([name, module]) => [name, asModule(module)]));
  return (name) => {
    const module = given.get(String(name));
    if (module !== undefined) return module;
    throw new Error(`a sandbox has no module ${String(name)}`);
  };
}

/**
 * Lets zod complete what it keeps in the realm, which it does with the first schema of an object and the first check.
 * Call it before the realm is sealed.
 */
export function prepareModules(): void {
  zod.strictObject({ list: zod.array(zod.string()) }).safeParse({ list: [''] });
}

function freezeFunctions(module: Readonly<Record<string, unknown>>): void {
  for (const thing of Object.values(module)) {
    if (typeof thing !== 'function') continue;
    Object.freeze(thing);
    const { prototype } = thing as { prototype?: unknown };
    if (typeof prototype === 'object' && prototype !== null) Object.freeze(prototype);
  }
}

/** A frozen copy; `__esModule` as bundlers of CommonJS modules expect it. */
function asModule(module: Readonly<Record<string, unknown>>): object {
  return Object.freeze(Object.defineProperty({ ...module }, '__esModule', { value: true }));
}
