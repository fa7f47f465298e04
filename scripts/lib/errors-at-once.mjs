/*
 * A reporter of vitest that prints the error of a red test when it has it: a run that is interrupted, or that ends with
 * its machine, has said by then what it found. The default reporter prints errors at the end, and only there.
 */
import { relative } from 'node:path';
import { ROOT } from './root.mjs';

/** Frames of a stack that are printed: the first of ours is among them. */
const FRAMES = 6;

export default class ErrorsAtOnce {
  /** @param {{ write?: (text: string) => void }} [options] */
  constructor({ write = (text) => process.stderr.write(text) } = {}) {
    this.write = write;
  }

  /** @param {import('vitest/node').TestCase} test */
  onTestCaseResult(test) {
    const { state, errors } = test.result();
    if (state !== 'failed') return;
    this.write(`\nred: ${relative(ROOT, test.module.moduleId)} > ${test.fullName}\n`);
    for (const error of errors) this.write(`${wordsOf(error)}\n`);
  }

  /** @param {import('vitest/node').TestModule} file */
  onTestModuleEnd(file) {
    for (const error of file.errors()) this.write(`\nred: ${relative(ROOT, file.moduleId)}\n${wordsOf(error)}\n`);
  }
}

/** @param {{ message: string, stacks?: readonly { file: string, line: number, column: number }[], diff?: string }} error */
function wordsOf({ message, stacks = [], diff }) {
  const places = stacks
    .slice(0, FRAMES)
    .map(({ file, line, column }) => `    at ${relative(ROOT, file)}:${line}:${column}`);
  return [message, ...(diff === undefined ? [] : [diff]), ...places].join('\n');
}
