/**
 * What `fast-check` is for the tests in `npm run test:nightly`: each property, check and sample draws from its own seed
 * mixed with that of the night. So one number repeats a night, and no two nights try the same values.
 */
import * as real from 'fast-check';

export * from 'fast-check';

const NIGHT = Number(process.env.REPRISE_NIGHT);

/** The parameters of a run, with the seed of this night. A path leads through the values of one seed, so both stay. */
function tonight<T>(parameters: real.Parameters<T> = {}): real.Parameters<T> {
  if (parameters.path !== undefined) return parameters;
  return { ...parameters, seed: ((parameters.seed ?? 0) ^ NIGHT) | 0 };
}

export const assert = ((property: real.IRawProperty<unknown>, parameters?: real.Parameters<unknown>) =>
  real.assert(property, tonight(parameters))) as typeof real.assert;

export const check = ((property: real.IRawProperty<unknown>, parameters?: real.Parameters<unknown>) =>
  real.check(property, tonight(parameters))) as typeof real.check;

export const sample: typeof real.sample = (generator, parameters) =>
  real.sample(generator, tonight(typeof parameters === 'number' ? { numRuns: parameters } : parameters));

// biome-ignore lint/style/noDefaultExport: the module that it stands for has one, which tests import
export default { ...real, assert, check, sample };
