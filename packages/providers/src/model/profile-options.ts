/** What a caller says about a model beside its name. */
import type { Price } from '@reprise/agent';
import { anObject, type KnownOptions, requireKnownOptions } from '@reprise/contracts';
import type { ProviderProfile } from './model.js';

/** Options of every client about its model. */
export interface ProfileOptions {
  /** What this model can do, where it differs from the default. */
  readonly profile?: Partial<Omit<ProviderProfile, 'model_default'>>;
  /** The model's price, in dollars per million tokens. Without it, limits in money cannot be set for the model. */
  readonly price?: Price;
}

/**
 * What happens to calls that come twice in one answer: under one id, for one tool, with the same arguments. `once` makes
 * such a call once, `each` makes it as often as it comes, `fail` requests the answer again, also for other calls under
 * one id.
 */
export type RepeatedCalls = 'once' | 'each' | 'fail';

/** Options of every client about the answers of its model. */
export interface AnswerOptions {
  /** What happens to calls that come twice in one answer. Default `once`; the receipt carries a warning. */
  readonly repeatedCalls?: RepeatedCalls;
}

const PROFILE_OPTIONS: KnownOptions<ProfileOptions> = { profile: anObject, price: anObject };

/** Refuses options that are not these. @throws RepriseError `invalid_argument` */
export function requireProfileOptions(options: unknown, call: string): void {
  requireKnownOptions(options, PROFILE_OPTIONS, call);
}
