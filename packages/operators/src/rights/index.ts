/** What holders of rights may do. */
export { type RightsLink, type RightsReport, rightsReport } from './report.js';
export { type RightsAtOptions, rightsAt } from './rights.js';
