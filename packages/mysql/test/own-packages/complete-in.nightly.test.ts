import { completeInTests } from '../complete-in.ts';
import { CLIENTS } from './effects.ts';

completeInTests(CLIENTS);
