/** The spans of a journal: the whole form of a tracer. */
import { requireArgument } from '@reprise/contracts';
import type { Span } from './span.js';
import { type TraceFrame, Tracer } from './tracer.js';
