//! Tetrahedra in a program that others wrote: meshio reads what `kiln tet` writes.

use std::process::Command;

#[test]
fn meshio_reads_the_tetrahedra() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = concat!(env!("CARGO_MANIFEST_DIR"), "/meshes/tree.obj");
    let kiln = |output: &str| {
        let path = folder.path().join(output);
        let run = Command::new(env!("CARGO_BIN_EXE_kiln"))
            .args(["tet", mesh, "--count", "800", "--json", "-o"])
            .arg(path)
            .output();
        let run = run.unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        serde_json::from_slice::<serde_json::Value>(&run.stdout).unwrap()
    };
    let reports = [kiln("tree.vtk"), kiln("tree.node")];
    let script = "import sys, meshio, numpy
for path in sys.argv[1:]:
    mesh = meshio.read(path)
    x, t = mesh.points, mesh.cells_dict['tetra']
    a, b, c = (x[t[:, k]] - x[t[:, 0]] for k in (1, 2, 3))
    print(len(x), len(t), abs(numpy.einsum('ij,ij->i', a, numpy.cross(b, c))).sum() / 6)
";
    let python =
        std::env::var_os("KILN_TEST_PYTHON").expect("tests/run installs the clients and sets KILN_TEST_PYTHON");
    let files = ["tree.vtk", "tree.node"].map(|file| folder.path().join(file));
    let output = Command::new(python).args(["-c", script]).args(files).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    for (line, report) in text.lines().zip(&reports) {
        let numbers: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let expected = ["nodes", "tetrahedra", "volume"].map(|key| report[key].as_f64().unwrap());
        for (found, expected) in numbers.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-9, "{line} for {expected:?}");
        }
    }
}
