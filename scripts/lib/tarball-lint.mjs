/** Published packages through the eyes of others: publint, and the types by @arethetypeswrong. */
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/**
 * The folders of workspaces have a `package.json`: Node reads its `imports` (they count for the files below the nearest
 * one), and the bundler of pure code reads its `exports`.
 */
const MEANT_BY_US = new Set(['NESTED_PACKAGE_JSON_FIELD_IGNORED']);

/** The findings of publint, suggestions too. */
export async function lintProblems({ manifest, bytes }) {
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const { messages } = await publint({ pack: { tarball } });
  return messages
    .filter(({ code }) => !MEANT_BY_US.has(code))
    .map((message) => `publint: ${formatMessage(message, manifest, { color: false }) ?? message.code}`);
}

/**
 * Problems that every package has which is published as ES modules alone, and that are meant: `require` of one works
 * in Node from 20.19 on, and Node 10 knew no subpaths.
 */
const MEANT = new Set(['CJSResolvesToESM']);
const NOT_SUPPORTED = new Set(['node10']);

/** The findings of @arethetypeswrong for programs that are ES modules, and for bundlers. */
export async function typeProblems({ bytes }) {
  const { types, problems = [] } = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)));
  if (types === false) return ['attw: there are no types'];
  return problems
    .filter(({ kind, resolutionKind }) => !MEANT.has(kind) && !NOT_SUPPORTED.has(resolutionKind))
    .map((problem) => `attw: ${JSON.stringify(problem)}`);
}
