/** Who is in a society. */
export {
  type SocietyEntity,
  type SocietyGroup,
  type SocietyReport,
  type SocietySwarm,
  type SocietyTrust,
  type SwarmResult,
  societyReport,
} from './report.js';
export { type SocietyOfOptions, societyOf } from './society.js';
export { type TrustOfOptions, trustOf } from './trust.js';
export { type TrustPair, type TrustReport, trustReport } from './trust-report.js';
