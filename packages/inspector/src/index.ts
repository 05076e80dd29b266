import type { InspectorPage } from '@call-webhooks/simulator';
import { PAGE_FILES } from './page-files.generated.ts';

/**
 * The inspector's page, for the option `inspector` of `startSimulator`. It is served at the
 * simulator's URL.
 * @example
 * const simulator = await startSimulator({ inspector: inspectorPage() });
 * console.log(`Open ${simulator.url}`);
 */
export function inspectorPage(): InspectorPage {
  return { files: PAGE_FILES };
}
