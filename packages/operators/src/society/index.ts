/** Who is in a society. */
export {
  type SocietyEntity,
  type SocietyGroup,
  type SocietyReport,
  type SocietySwarm,
  type SocietyTrust,
  societyReport,
} from './report.js';
export { type SocietyOfOptions, societyOf } from './society.js';
