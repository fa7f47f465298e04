/** Requests to hosts that are checked, for packages that post to addresses: private networks are refused, also behind a name. */

export { exchangeOnce } from './exchange.js';
export { type Resolve, refusalOf, systemResolve, type Targets, targetsOf } from './targets.js';
