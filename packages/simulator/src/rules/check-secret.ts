import { SimulatorError } from '../simulator-error.ts';

/** @throws SimulatorError `invalid-input` for a chosen secret that no receiver would take */
export function checkSecret(secret: string): void {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? '';
  if (Buffer.from(base64, 'base64').length < 16)
    throw new SimulatorError(
      'invalid-input',
      'A signing secret is "whsec_" and the base64 of at least 16 bytes.',
    );
}
