/** The compiler of rights: from declared capabilities, memberships, trust and status to capabilities of the kernel. */
export * from './compile-rights.js';
export * from './matrix.js';
export * from './tiers.js';
