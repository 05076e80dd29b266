import { SECRET } from '../sending/schemes.ts';
import { handle } from './answer.ts';

/** Our receiver as a user has it: one secret, typed handlers, and every default. */
export const OPTIONS = {
  secret: SECRET,
  on: { 'call:started': handle, 'call:completed': handle, 'call:recording-available': handle },
};
