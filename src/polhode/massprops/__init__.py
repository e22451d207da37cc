"""Mass properties of bodies: from shapes, meshes and assemblies."""
