// What stepcast writes: docs/results.schema.json has the documents, app/report/step_detail_json.cpp the detail.

export interface Named { key: string; title: string }
export interface Traffic {
  name: string; operation: string; algorithm: string; bytes: number; ranks: number; groups: number; alone_s: number;
  times: number; busbw_bytes_per_s: number | null; busiest_link: string; inside_layers: boolean;
}
export interface LinkRow { from: number; to: number; kind: string; bytes_per_s: number; utilisation: number; users: [number, number][] }
export interface Line {
  name: string; shape: string; flops: number; bytes: number; launches: number; compute_s: number; exposed_s: number;
  rated: number | null; by_bytes: boolean; source: string;
}
export interface Pass { pass: string; compute_s: number; exposed_s: number; lines: Line[] }
export interface Block { name: string; parameters: number; saved_bytes: number; passes: Pass[] }
export interface DerivedStage { stage: number; blocks: number[]; micro_batches: number; compute_s: number; exposed_s: number; more_compute_s: number; more_exposed_s: number }
/** What a timeline draws: of a forecast, or of a recorded step, which has kernels where a forecast has traffic. */
export interface Drawn {
  step_s: number; streams: string[]; doings: Named[];
  stretches: { kinds: [number, number, number, number][]; rows: { stage: number; stream: number; packed: string }[]; until_ns: number | null };
  traffic?: Traffic[];
  device?: number; kernels?: string[]; // of a recorded step
}
export interface Detail extends Drawn {
  time_parts: Named[]; memory_kinds: Named[]; schedule: string;
  gpu: { name: string; source: string; memory_bytes: number };
  memory: { stage: number; parts: number | null; at_s: number[]; activations_bytes: number[] }[];
  traffic: Traffic[];
  links: { devices: string[]; rows: LinkRow[]; left_out: number };
  blocks: Block[];
  stages: DerivedStage[];
}
export interface StageResult { stage: number; layers: number; in_flight: number; time_s: Record<string, number>; memory_bytes: Record<string, number> }

/** Documents come from files: whatever lacks is told where it is drawn. */
export type Document = Record<string, any>;
/** Of a comparison: which part of the page a side is, or what is drawn of it where it was recorded. */
export interface Sides { a?: number | Drawn; b?: number | Drawn }
export interface Part { kind: string; title: string; document: Document; detail: Detail | Sides | null }
export interface Results { stepcast: string; parts: Part[] }

/** Words of Holistic Trace Analysis for parts of a stage's time. */
export const groupOf: Record<string, string> = {
  compute: "Compute", optimizer: "Compute", compression: "Compute",
  exposed_tensor: "Exposed communication", exposed_pipeline: "Exposed communication", exposed_data: "Exposed communication",
  offload: "Memory copies",
  bubble: "Idle", idle: "Idle", host: "Idle", input: "Idle", checkpoint: "Idle",
};
export const partName: Record<string, string> = {
  compute: "Compute", optimizer: "Compute: optimizer", compression: "Compute: compression",
  exposed_tensor: "Exposed communication: inside layers", exposed_pipeline: "Exposed communication: between stages", exposed_data: "Exposed communication: data ranks",
  offload: "Memory copies", bubble: "Idle: pipeline bubble", idle: "Idle: other", host: "Idle: host", input: "Idle: input", checkpoint: "Idle: checkpoint",
};
