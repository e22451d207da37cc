// The other bodies of a system, or the other members of an ensemble: one instanced mesh for each look, so that a
// thousand are drawn at once.

import { Color, Group, InstancedMesh, Matrix4, Quaternion, Vector3, type Raycaster } from "three";
import { SEVERAL } from "../colors.ts";
import type { Look } from "../motion/record.ts";
import { shellOf } from "./body.ts";
import { coarser } from "./decimation.ts";
import { drawnSize } from "./framing.ts";
import { patterned, type Tones } from "./pattern.ts";
import { inPicture, type Instant, type Subject } from "./context.ts";

/** Faces of all together. */
const MOST_FACES = { low: 120_000, high: 1_500_000 };
const DOT = "#3d3a45";
const NOWHERE = new Matrix4().makeScale(0, 0, 0);

export class Crowd extends Group {
  private readonly meshes: { mesh: InstancedMesh; bodies: number[] }[] = [];
  /** Whether its bodies are drawn with fewer faces than they have. */
  isCoarse = false;

  constructor(private readonly subject: Subject) {
    super();
    const { record } = subject;
    if (record.bodies < 2) return;
    record.looks.forEach((look, l) => {
      const bodies = Array.from(record.lookOf.keys()).filter((i) => record.lookOf[i] === l);
      if (bodies.length > 0) this.addLook(look, bodies);
    });
  }

  update(instant: Instant): void {
    const { record, framing, watched } = this.subject;
    const matrix = new Matrix4();
    const [place, turn, scale] = [new Vector3(), new Quaternion(), new Vector3()];
    for (const { mesh, bodies } of this.meshes) {
      bodies.forEach((body, k) => {
        const { position, quaternion } = instant.all[body];
        const there = body !== watched && Number.isFinite(position[0] + quaternion[0]);
        if (!there) {
          mesh.setMatrixAt(k, NOWHERE);
          return;
        }
        place.set(...inPicture(framing, instant.focus, position, body));
        turn.set(quaternion[1], quaternion[2], quaternion[3], quaternion[0]);
        scale.setScalar(drawnSize(record, body, framing) * instant.larger);
        mesh.setMatrixAt(k, matrix.compose(place, turn, scale));
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
  }

  /** The body under a ray, or null. */
  under(ray: Raycaster): { body: number; distance: number } | null {
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

  private addLook(look: Look, bodies: number[]): void {
    const { record, effects, colours } = this.subject;
    const most = Math.max(8, Math.floor(MOST_FACES[effects] / record.bodies));
    const mesh = coarser(look.vertices, look.faces, most);
    this.isCoarse ||= mesh.faces !== look.faces;
    const shell = shellOf({ ...mesh, size: look.size });
    const instances = new InstancedMesh(shell.faces, patterned(look, null, effects), bodies.length);
    instances.frustumCulled = false;
    const muted = new Color(colours.bodyOther).lerp(new Color(colours.paper), 0.35);
    const colour = new Color();
    bodies.forEach((body, k) =>
      instances.setColorAt(k, record.axis === "member" ? muted : colour.set(SEVERAL[body % SEVERAL.length])),
    );
    this.meshes.push({ mesh: instances, bodies });
    this.add(instances);
  }
}

/** The watched body's tones: its own among several, the common ones of a body alone. */
export function tonesOf(subject: Subject): Tones {
  const { record, watched, colours } = subject;
  const isParticle = record.looks[record.lookOf[watched]].kind === "particle";
  const own = SEVERAL[record.axis === "body" ? watched % SEVERAL.length : 0];
  if (isParticle) return { one: own, other: own, dot: own };
  if (record.bodies < 2) return { one: colours.body, other: colours.bodyOther, dot: DOT };
  return { one: `#${new Color(own).lerp(new Color("#ffffff"), 0.6).getHexString()}`, other: own, dot: DOT };
}
