import { inspectorPage } from '@call-webhooks/inspector';
import type { SimulatorOptions } from '@call-webhooks/simulator';
import { testResources as tidySimulator } from '../../simulator/test/support/test-resources.ts';

/** Starts simulators that serve the inspector, and receivers; closes them all after each test. */
export function tidy() {
  const { simulator, ...others } = tidySimulator();
  return {
    ...others,
    simulator: (options: SimulatorOptions = {}) =>
      simulator({ inspector: inspectorPage(), ...options }),
  };
}
