/** What a caller says about a model beside its name. */
import type { Price } from '@reprise/agent';
import type { ProviderProfile } from './model.js';

/** Options of every client about its model. */
export interface ProfileOptions {
  /** What this model can do, where it differs from the default. */
  readonly profile?: Partial<Omit<ProviderProfile, 'model_default'>>;
  /** The model's price, in dollars per million tokens. Without it, limits in money cannot be set for the model. */
  readonly price?: Price;
}
