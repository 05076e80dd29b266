import { docsUrl } from '@call-webhooks/core/internal';
import type { Grade } from '../grade.ts';
import { GROUPS, type Probe } from '../probe.ts';

const SCHEMA =
  'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';
const DOCS = docsUrl('conformance.md');
/** Probes of this weight find what lets a forged or lost event through. */
const ERROR_WEIGHT = 5;

/** The grades as SARIF 2.1.0: a rule for each probe, a result for each failure and note. */
export function sarifOf(grades: readonly Grade[], url: string): object {
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'call-webhooks check',
            informationUri: DOCS,
            rules: grades.map(({ probe }) => ruleOf(probe)),
          },
        },
        automationDetails: { id: 'call-webhooks/check/' },
        results: grades.flatMap((grade, ruleIndex) => resultOf(grade, ruleIndex, url)),
      },
    ],
  };
}

const levelOf = (weight: number) => (weight >= ERROR_WEIGHT ? 'error' : 'warning');

const ruleOf = ({ id, title, spec, fix, weight, group }: Probe) => ({
  id,
  name: id,
  shortDescription: { text: title },
  fullDescription: { text: `${spec.section}: ${spec.text}` },
  help: { text: fix },
  helpUri: DOCS,
  defaultConfiguration: { level: weight === 0 ? 'note' : levelOf(weight) },
  properties: { group: GROUPS[group], weight },
});

function resultOf({ probe, result, saw }: Grade, ruleIndex: number, url: string): object[] {
  if (result === 'pass' || result === 'skipped') return [];
  return [
    {
      ruleId: probe.id,
      ruleIndex,
      level: result === 'note' ? 'note' : levelOf(probe.weight),
      message: { text: `${probe.title}: ${saw}. ${probe.fix}` },
      locations: [{ physicalLocation: { artifactLocation: { uri: url } } }],
      partialFingerprints: { 'probe/v1': probe.id },
    },
  ];
}
