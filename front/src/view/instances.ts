// The other bodies of a system, or the other members of an ensemble: one instanced mesh per appearance.

import { Color, Group, InstancedMesh, Matrix4, Quaternion, Vector3, type Raycaster } from "three";
import { BODY_COLORS, DARK, type Colors } from "../colors.ts";
import type { Appearance } from "../motion/record.ts";
import { buildShell } from "./body.ts";
import { memberColor } from "./color-scale.ts";
import { decimateMesh } from "./decimation.ts";
import { drawnSize } from "./framing.ts";
import { patternMaterial, type Tones } from "./pattern.ts";
import { toView, type Instant, type ViewContext } from "./context.ts";

/** Maximum number of faces in total. */
const MAX_FACES = { low: 120_000, high: 1_500_000 };
const DOT = "#3d3a45";
const HIDDEN = new Matrix4().makeScale(0, 0, 0);

const isDark = (colors: Colors): boolean => colors === DARK;

export class InstancedBodies extends Group {
  private readonly meshes: { mesh: InstancedMesh; bodies: number[] }[] = [];
  /** Whether bodies are drawn with fewer faces than they have. */
  isDecimated = false;

  constructor(private readonly context: ViewContext) {
    super();
    const { record } = context;
    if (record.bodies < 2) return;
    record.appearances.forEach((appearance, l) => {
      const bodies = Array.from(record.appearanceIndex.keys()).filter((i) => record.appearanceIndex[i] === l);
      if (bodies.length > 0) this.addAppearance(appearance, bodies);
    });
  }

  update(instant: Instant): void {
    const { record, framing, watched } = this.context;
    const matrix = new Matrix4();
    const [place, turn, scale] = [new Vector3(), new Quaternion(), new Vector3()];
    for (const { mesh, bodies } of this.meshes) {
      bodies.forEach((body, k) => {
        const { position, quaternion } = instant.all[body];
        const there = body !== watched && Number.isFinite(position[0] + quaternion[0]);
        if (!there) {
          mesh.setMatrixAt(k, HIDDEN);
          return;
        }
        place.set(...toView(framing, instant.focus, position, body));
        turn.set(quaternion[1], quaternion[2], quaternion[3], quaternion[0]);
        scale.setScalar(drawnSize(record, body, framing) * instant.larger);
        mesh.setMatrixAt(k, matrix.compose(place, turn, scale));
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
  }

  /** The body under a ray, or null. */
  bodyUnder(ray: Raycaster): { body: number; distance: number } | null {
    const hits = this.meshes.flatMap(({ mesh, bodies }) =>
      ray.intersectObject(mesh).map(({ instanceId, distance }) => ({ body: bodies[instanceId!], distance })),
    );
    return hits.sort((a, b) => a.distance - b.distance)[0] ?? null;
  }

  dispose(): void {
    for (const { mesh } of this.meshes) {
      mesh.geometry.dispose();
      (mesh.material as { dispose(): void }).dispose();
      mesh.dispose();
    }
  }

  private addAppearance(appearance: Appearance, bodies: number[]): void {
    const { record, effects, colors } = this.context;
    const most = Math.max(8, Math.floor(MAX_FACES[effects] / record.bodies));
    const mesh = decimateMesh(appearance.vertices, appearance.faces, most);
    this.isDecimated ||= mesh.faces !== appearance.faces;
    const shell = buildShell({ ...mesh, size: appearance.size });
    const instances = new InstancedMesh(shell.faces, patternMaterial(appearance, null, effects), bodies.length);
    instances.frustumCulled = false;
    const muted = new Color(colors.bodyOther).lerp(new Color(colors.paper), 0.35);
    const color = new Color();
    bodies.forEach((body, k) => {
      const own = memberColor(record, body, isDark(colors)) ?? BODY_COLORS[body % BODY_COLORS.length];
      instances.setColorAt(k, record.axis === "member" && !record.colors ? muted : color.set(own));
    });
    this.meshes.push({ mesh: instances, bodies });
    this.add(instances);
  }
}

/** Tones of the watched body: its own color among several bodies, otherwise the default ones. */
export function bodyTones(context: ViewContext): Tones {
  const { record, watched, colors } = context;
  const isParticle = record.appearances[record.appearanceIndex[watched]].kind === "particle";
  const own = memberColor(record, watched, isDark(colors)) ?? BODY_COLORS[record.axis === "body" ? watched % BODY_COLORS.length : 0];
  if (isParticle) return { one: own, other: own, dot: own };
  if (record.bodies < 2) return { one: colors.body, other: colors.bodyOther, dot: DOT };
  return { one: `#${new Color(own).lerp(new Color("#ffffff"), 0.6).getHexString()}`, other: own, dot: DOT };
}
