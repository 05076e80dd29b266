import { inspectorPage } from '@call-webhooks/inspector';
import type { SimulatorOptions } from '@call-webhooks/simulator';
import { testResources as simulatorResources } from '../../simulator/test/support/test-resources.ts';

/** Starts simulators that serve the inspector, and receivers; closes them all after each test. */
export function testResources() {
  const { simulator, ...others } = simulatorResources();
  return {
    ...others,
    simulator: (options: SimulatorOptions = {}) =>
      simulator({ inspector: inspectorPage(), ...options }),
  };
}
